"""What the browser pages refuse, and how their jobs end."""

from __future__ import annotations

from microagg.wording.template import data_error, message, output_error, settings_error, text

port_taken = output_error("host", "port")("""
    Port {port} of {host} cannot be used: another program may be using it. Give another one with {--port},
    or leave it out.""")
bad_address = settings_error("host")("""
    {host} is not an address of this machine. Leave out {--host} to serve this machine alone, or give an
    address such as 192.0.2.10.""")
served_to_others = text("host")("""
    Everybody who can reach {host} and has a link can use this server, and what they send crosses the
    network unencrypted. Use it in a network that you trust, or behind a proxy with TLS.""")
no_entry = text()("""
    This page can be opened only by its link. Open the newest link that `microagg serve` has printed: each
    link can be used once, and a session ends when its browser has been away for a long time.""")
unknown_host = text()(
    "This server does not have the name in the address. Use the link that it has printed."
)
other_origin = text()("Requests from the pages of other sites are refused.")
session_is_over = settings_error()("""
    This session has ended. Open the newest link that `microagg serve` has printed.""")
file_changed = data_error("name")("""
    {name} has changed since it was opened here. Open it again, and check its roles.""")
not_found = text()("There is nothing here.")
upload_too_large = data_error("most")("""
    The file is larger than {most:GB}, the largest size that can be uploaded. Start the server on the
    machine that has the file and open it by its path, or use the command line.""")
upload_incomplete = data_error()("The file did not arrive whole. Send it again.")
paths_not_allowed = settings_error()("""
    This server opens no files by their path. Upload the file, or start the server with {--allow_paths
    true}.""")
paths_for_others = settings_error("host")("""
    {--allow_paths true} lets a browser open any file that you can read, and {--host=host} lets others use
    this server. Leave out one of the two.""")
page_failed = text("kind", "place")("""
    microagg: Internal error: {kind} at {place}. This is a bug in microagg; please report it with what you
    did on the page.""")
page_warned = text("kind", "place")("microagg: Warning: {kind} at {place}.")
link_used = text()("""
    the link was used: a browser has opened the page (if it was not yours, end the server with Ctrl-C)""")
no_path = settings_error()("No path is given. Type the path of a file, such as /data/persons.csv.")
no_data_for_plan = settings_error()("""
    A plan needs data: choose the file that it is for first, then load the plan.""")
changed_elsewhere = settings_error()("""
    Choices were changed in another tab since this page was shown. Look at them again; nothing was changed
    by this page.""")
form_unusable = settings_error()("This form cannot be read. Go back, reload the page, and try again.")
no_file = settings_error()("No file was chosen. Choose one, then upload it.")
keep_folder_open = settings_error("folder")("""
    {folder} can be read or changed by others. Give a folder of your own with {--keep}, which only you can
    enter (mode 700), or the name of a new one.""")
keep_folder_in_use = settings_error("folder")(
    "Another server uses {folder}. Give another folder with {--keep}."
)
keep_for_others = settings_error("host")("""
    {--keep} gives kept data to whoever opens the next link, and {--host=host} lets others use this server.
    Leave out one of the two.""")
something_failed = text()("""
    Something went wrong inside microagg; nothing was changed or released. Go back and try again; the
    terminal shows where it happened.""")
file_was_read = text("name")("{name} was read.")
file_was_refused = text("name")("{name} cannot be used as it is.")
settings_can_run = text()("The settings can be run.")
settings_cannot_run = text()("The settings cannot be run with these data.")
run_ended_well = text()("The run has ended: the release is verified.")
run_was_refused = text()("The run has ended: the release is refused.")
proof_ended = text()("The proof has ended.")
comparison_ended = text()("The comparison has ended.")
job_ended_otherwise = text()("The job was stopped or has failed.")
queue_full = settings_error("most")("""
    There {most:is|are} {most:job} waiting already. Try again when some have ended.""")
job_out_of_memory = message("limit")("""
    There is not enough memory: a job may use {limit:GiB}. Use fewer columns or records, the effort fast or
    the method blocks, or start the server with a larger {--memory}.""")
job_out_of_time = message("minutes")("""
    The job was ended after {minutes:g} minutes. Use the effort fast, a method for large data such as
    blocks, or start the server with more {--minutes}.""")
job_ended = text()("""
    The job ended without an answer, probably because memory ran out. Nothing was released. Use fewer
    columns or records, or the effort fast.""")
job_stopped = text()("Stopped before there were any groups; nothing was released.")
job_failed = text("kind", "place")("""
    Internal error: {kind} at {place}. This is a bug in microagg; please report it with what you did.
    Nothing was released.""")
job_failed_to_write = text("reason")("Reading or writing failed: {reason}. Nothing was released.")
server_ended = text()("The server has ended, and its files are removed.")
session_ended = text()("The session has ended, and all of its files are removed. You may close this page.")
