"""What the local web face refuses, and what its jobs end with."""

from __future__ import annotations

from collections.abc import Sequence

from microagg.errors import DataError, OutputError, SettingsError
from microagg.wording.phrases import counted, listed, quoted


def port_taken(host: str, port: int) -> OutputError:
    """Somebody else listens there."""
    return OutputError(
        f"Port {port} of {host} cannot be used: another program may have it. "
        "Give another one by --port, or leave it out."
    )


def bad_address(host: str) -> SettingsError:
    """Not an address of this machine."""
    return SettingsError(
        f"{host} is no address of this machine. Leave --host out to serve to this machine alone, or give "
        "an address such as 192.0.2.10."
    )


def served_to_others(host: str) -> str:
    """Not an error: a warning where the page can be reached from elsewhere."""
    return (
        f"Everybody who can reach {host} and has a link can use this server, and what they send crosses "
        "the network unencrypted. Use it in a network you trust, or behind a proxy with TLS."
    )


def no_entry() -> str:
    """Neither a link that was not used yet nor a session."""
    return (
        "This page is for those who have its link. Open the newest link that `microagg serve` has printed: "
        "each can be used once, and a session ends when its browser has been away for long."
    )


def unknown_host() -> str:
    """Another site's name that was made to point here."""
    return "This server is not known by the name that was asked for. Use the link that it has printed."


def other_origin() -> str:
    """A page of another site asks."""
    return "Requests from the pages of other sites are refused."


def session_is_over() -> SettingsError:
    """Another page of the same browser has ended it."""
    return SettingsError("This session has ended. Open the newest link that `microagg serve` has printed.")


def file_changed(name: str) -> DataError:
    """A file that was opened by its path."""
    return DataError(f"{name} has changed since it was opened here. Open it again, and look at its roles.")


def not_found() -> str:
    """No such page, or nothing there yet."""
    return "There is nothing here."


def upload_too_large(most: int) -> DataError:
    """More bytes than a session may send."""
    return DataError(
        f"The file is larger than {most / 1e9:.3g} GB, the most that is taken. Start the server on the "
        "machine that has it and open it by its path, or use the command line."
    )


def upload_incomplete() -> DataError:
    """The connection ended in the middle."""
    return DataError("The file did not arrive whole. Send it again.")


def unknown_upload(name: str, known: Sequence[str]) -> DataError:
    """The ending of an uploaded file says nothing to us."""
    return DataError(
        f"The format of {name} is not known by its name; it must end in one of {listed(known, 20)}."
    )


def paths_not_allowed() -> SettingsError:
    """Files of the server are for those who sit at it, and say so."""
    return SettingsError(
        "This server opens no files by their path. Upload the file, or start the server with --allow-paths."
    )


def paths_for_others(host: str) -> SettingsError:
    """Who comes from elsewhere must not read the server's files."""
    return SettingsError(
        f"--allow-paths lets a browser open any file that you can read, and --host {host} lets others in. "
        "Leave out one of the two."
    )


def page_failed(kind: str, place: str) -> str:
    """An exception's own words might quote data: only its kind and place."""
    return (
        f"microagg: Internal error: {kind} at {place}. This is a bug in microagg; please report it with "
        "what you did on the page."
    )


def page_warned(kind: str, place: str) -> str:
    """A warning of a library, whose words might quote data."""
    return f"microagg: Warning: {kind} at {place}."


def link_used() -> str:
    """Not an error: the owner of the server is told, who alone knows whether it was his own browser."""
    return "the link was used: a browser came in (if it was not yours, end the server with Ctrl-C)"


def no_path() -> SettingsError:
    """The field is empty."""
    return SettingsError("No path is given. Type that of a file, such as /data/persons.csv.")


def queue_full(most: int) -> SettingsError:
    """Too many wait already."""
    return SettingsError(
        f"There are {counted(most, 'job')} waiting already. Try again when some have ended."
    )


def job_out_of_memory(limit: int) -> str:
    """The limit of memory was reached."""
    return (
        f"There is not enough memory: a job may use {limit / 2**30:.3g} GiB. Use fewer columns or records, "
        "the fast effort or the method blocks, or start the server with a larger --memory."
    )


def job_out_of_time(minutes: float) -> str:
    """The limit of time was reached."""
    return (
        f"The job was ended after {minutes:g} minutes. Use the fast effort, a method for large data such "
        "as blocks, or start the server with more --minutes."
    )


def job_ended() -> str:
    """The process has gone without a word."""
    return (
        "The job ended without an answer, most likely for lack of memory. Nothing was released. "
        "Use fewer columns or records, or the fast effort."
    )


def job_stopped() -> str:
    """Asked for, before there was anything to keep."""
    return "Stopped before there were any groups; nothing was released."


def job_failed(kind: str, place: str) -> str:
    """An unexpected exception: its own words might quote data."""
    return (
        f"Internal error: {kind} at {place}. This is a bug in microagg; please report it with what you "
        "did. Nothing was released."
    )


def job_failed_to_write(reason: str) -> str:
    """Disk full, no permission."""
    return f"Reading or writing failed: {reason}. Nothing was released."


def two_weights(columns: Sequence[str]) -> SettingsError:
    """Only one could be used."""
    return SettingsError(f"Columns {quoted(columns)} all have the role weight; keep one.")


def server_ended() -> str:
    """Ctrl-C is how one ends it."""
    return "The server has ended; its files are removed."


def session_ended() -> str:
    """Asked for."""
    return "The session has ended, and all of its files are removed. You may close this page."
