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
job_waits = text("others")("Waiting for {others:other job} …")
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

_HOW_JOBS_END = {
    ("look", "done"): "{name} was read.",
    ("check", "done"): "The settings can be run.",
    ("check", "refused"): "The settings cannot be run with these data.",
    ("protect", "done"): "The run has ended: the release is verified.",
    ("protect", "refused"): "The run has ended: the release is refused.",
    ("bound", "done"): "The proof has ended.",
    ("compare", "done"): "The comparison has ended.",
}


def how_it_ended(kind: str, state: str, name: str) -> str:
    """A job, in a sentence; `name`: of the file that it worked on."""
    otherwise = (
        "{name} cannot be used as it is." if kind == "look" else "The job was stopped or has failed."
    )
    return _HOW_JOBS_END.get((kind, state), otherwise).format(name=name)


def where_it_is(stage: str, seconds: float, done: float) -> str:
    """A job that runs, and about how long it will still take, once that can be guessed."""
    took = f", {seconds:.0f} s" if seconds >= 1 else ""
    if done < 0.05 or seconds < 3:
        return f"{stage or 'Starting'}{took} …"
    left = seconds * (1.0 - done) / done
    about = f"{max(round(left), 1)} s" if left < 90 else f"{round(left / 60)} min"
    return f"{stage}{took}, about {about} left …"
