"""Checks of output paths, made before any work is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from microagg import errors, wording
from microagg.formats.table import ENDINGS, FORMATS, WRITTEN
from microagg.model import Origin
from microagg.write.drafts import OWNER_ONLY, draft


def protected_name(source: Path) -> str:
    """The default name of a release of this file."""
    known = ENDINGS.get(source.suffix.lower())
    ending = known.written_instead if known is not None and known.write is None else source.suffix
    return f"{source.stem}-protected{ending}"


def check_output(path: Path, force: bool | None = None, source: Path | None = None) -> None:
    """Refuse a path that cannot be written, that exists (unless forced), or that is the source's own.

    `force` is None where the user has no such option: the message does not mention it then.
    """
    try:
        _refuse_removed_folder(path)
        check_name(path)
        if path.is_dir():
            raise wording.output_is_a_folder(str(path))
        if not path.parent.is_dir():
            raise wording.no_output_folder(str(path.parent))
        if path.exists() and not path.is_file():
            raise wording.output_is_no_file(str(path))
        if source is not None and _are_one_file(path, source):
            raise wording.output_is_input(str(path))
        if os.path.lexists(path) and not force:
            raise wording.output_exists(str(path), replaceable=force is not None)
        path.lstat()  # refuses names that no file system takes
    except FileNotFoundError:
        pass
    except errors.OutputError:
        raise
    except OSError as error:
        raise wording.cannot_write(str(path), error.strerror or "its name is not possible") from None
    with draft(path, OWNER_ONLY):  # the folder may be read-only, the disk full
        pass


def check_name(path: Path) -> None:
    """Refuse a name that is too long for the file system; the folder need not exist yet."""
    folder = next((each for each in path.parents if each.is_dir()), None)
    size, most = len(os.fsencode(path.name)), -1
    if folder is not None:
        with suppress(OSError, ValueError):  # some file systems do not report it
            most = os.pathconf(folder, "PC_NAME_MAX")
    if 0 < most < size:
        raise wording.name_too_long(path.name, size, most)


def _refuse_removed_folder(path: Path) -> None:
    if path.is_absolute():
        return
    try:
        Path.cwd()
    except FileNotFoundError:
        raise wording.working_folder_removed() from None


def check_apart(paths: Sequence[Path]) -> None:
    """Refuse two output paths that are the same file, perhaps through links."""
    for at, path in enumerate(paths):
        if any(_are_one_file(path, other) for other in paths[:at]):
            raise wording.same_output(str(path))


def _are_one_file(path: Path, source: Path) -> bool:
    """Whether two paths, perhaps through links, are the same file."""
    if path.exists() and source.exists():
        return path.samefile(source)
    return path.resolve() == source.resolve()


def output_format(path: Path, origin: Origin) -> str:
    """The format that the ending of the name asks for; the source's if it has no ending.

    `SettingsError` for endings that are not known and for formats that nothing here can write.
    """
    known = ENDINGS.get(path.suffix.lower()) if path.suffix else FORMATS.get(origin.format)
    if known is None:
        raise wording.unknown_output_format(str(path), WRITTEN)
    if known.write is None:
        raise wording.not_written(str(path), known.name, WRITTEN)
    return known.name
