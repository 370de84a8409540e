"""What the browser pages refuse, and how their jobs end."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, OutputError, SettingsError
from microagg.wording.message import Message, use
from microagg.wording.phrases import are, listed


def port_taken(host: str, port: int) -> OutputError:
    return OutputError(
        f"Port {port} of {host} cannot be used: another program may be using it. "
        f"Give another one with {use('port')}, or leave it out."
    )


def bad_address(host: str) -> SettingsError:
    return SettingsError(
        f"{host} is not an address of this machine. Leave out {use('host')} to serve this machine alone, "
        "or give an address such as 192.0.2.10."
    )


def served_to_others(host: str) -> str:
    return (
        f"Everybody who can reach {host} and has a link can use this server, and what they send crosses "
        "the network unencrypted. Use it in a network that you trust, or behind a proxy with TLS."
    )


def no_entry() -> str:
    return (
        "This page can be opened only by its link. Open the newest link that `microagg serve` has printed: "
        "each link can be used once, and a session ends when its browser has been away for a long time."
    )


def unknown_host() -> str:
    return "This server does not have the name in the address. Use the link that it has printed."


def other_origin() -> str:
    return "Requests from the pages of other sites are refused."


def session_is_over() -> SettingsError:
    return SettingsError("This session has ended. Open the newest link that `microagg serve` has printed.")


def file_changed(name: str) -> DataError:
    return DataError(f"{name} has changed since it was opened here. Open it again, and check its roles.")


def not_found() -> str:
    return "There is nothing here."


def upload_too_large(most: int) -> DataError:
    return DataError(
        f"The file is larger than {most / 1e9:.3g} GB, the largest size that can be uploaded. Start the "
        "server on the machine that has the file and open it by its path, or use the command line."
    )


def upload_incomplete() -> DataError:
    return DataError("The file did not arrive whole. Send it again.")


def unknown_upload(name: str, known: Sequence[str]) -> DataError:
    return DataError(
        f"The format of {name} cannot be recognised by its name, which must end in one of "
        f"{listed(known, 20)}."
    )


def paths_not_allowed() -> SettingsError:
    return SettingsError(
        "This server opens no files by their path. Upload the file, or start the server with "
        f"{use('allow_paths', True)}."
    )


def paths_for_others(host: str) -> SettingsError:
    return SettingsError(
        f"{use('allow_paths', True)} lets a browser open any file that you can read, and "
        f"{use('host', host)} lets others use this server. "
        "Leave out one of the two."
    )


def page_failed(kind: str, place: str) -> str:
    return (
        f"microagg: Internal error: {kind} at {place}. This is a bug in microagg; please report it with "
        "what you did on the page."
    )


def page_warned(kind: str, place: str) -> str:
    return f"microagg: Warning: {kind} at {place}."


def link_used() -> str:
    return (
        "the link was used: a browser has opened the page (if it was not yours, end the server with Ctrl-C)"
    )


def no_path() -> SettingsError:
    return SettingsError("No path is given. Type the path of a file, such as /data/persons.csv.")


def queue_full(most: int) -> SettingsError:
    return SettingsError(f"There {are(most, 'job')} waiting already. Try again when some have ended.")


def job_out_of_memory(limit: int) -> Message:
    return Message(
        f"There is not enough memory: a job may use {limit / 2**30:.3g} GiB. Use fewer columns or records, "
        "the effort fast or the method blocks, or start the server with a larger "
        f"{use('memory')}."
    )


def job_out_of_time(minutes: float) -> Message:
    return Message(
        f"The job was ended after {minutes:g} minutes. Use the effort fast, a method for large data such "
        f"as blocks, or start the server with more {use('minutes')}."
    )


def job_ended() -> str:
    return (
        "The job ended without an answer, probably because memory ran out. Nothing was released. "
        "Use fewer columns or records, or the effort fast."
    )


def job_stopped() -> str:
    return "Stopped before there were any groups; nothing was released."


def job_failed(kind: str, place: str) -> str:
    return (
        f"Internal error: {kind} at {place}. This is a bug in microagg; please report it with what you "
        "did. Nothing was released."
    )


def job_failed_to_write(reason: str) -> str:
    return f"Reading or writing failed: {reason}. Nothing was released."


def server_ended() -> str:
    return "The server has ended, and its files are removed."


def session_ended() -> str:
    return "The session has ended, and all of its files are removed. You may close this page."
