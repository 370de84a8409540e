"""Files written whole or not at all: a draft has no name until it is committed."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from microagg import errors

OURS_ALONE = 0o600
_OPEN_FILES = Path("/proc/self/fd")
_NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT)
_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@dataclass(slots=True)
class Draft:
    """A file in the folder of `target` that nobody else can see.

    It has no name, so that the operating system removes it with the process that writes it, however that
    ends; on file systems that know no such files it has a hidden one until the block is left.
    """

    target: Path
    descriptor: int
    folder: int
    """Descriptor of the folder, for names in it: the folder may be moved meanwhile."""
    temporary: str | None

    @property
    def path(self) -> Path:
        """Where the draft can be opened by this process, to write to it or to read it."""
        if self.temporary is None:
            return _OPEN_FILES / str(self.descriptor)
        return self.target.parent / self.temporary

    def opened(self) -> BinaryIO:
        """The draft as a file to write to; to be closed."""
        return os.fdopen(os.dup(self.descriptor), "w+b")

    def opened_as_text(self) -> TextIO:
        """The draft as a file of text in UTF-8 to write to; to be closed."""
        return os.fdopen(os.dup(self.descriptor), "w", encoding="utf-8", newline="")

    def finish(self) -> None:
        """Let the content reach the disk; `OSError` if it is full, at the latest now."""
        os.fsync(self.descriptor)

    def digest(self) -> str:
        """Of the content."""
        with self.path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

    def commit(self, force: bool = False) -> None:
        """Give the file its name, at once and for good; `SettingsError` if it is taken, unless forced."""
        with told(self.target):
            try:
                self._link(self.target.name)
            except FileExistsError:
                if not force:
                    raise
                self._replace()
        # The name is in the folder, which must reach the disk too. Some file systems do not sync folders;
        # the file is there and whole in any case.
        with suppress(OSError):
            os.fsync(self.folder)

    def _link(self, name: str) -> None:
        """A name for the draft; `FileExistsError` if there is one such, unlike by renaming."""
        source = str(_OPEN_FILES / str(self.descriptor)) if self.temporary is None else self.temporary
        try:
            os.link(source, name, src_dir_fd=self.folder, dst_dir_fd=self.folder, follow_symlinks=True)
        except OSError as error:
            # Some file systems have no hard links; every other failure is one.
            if self.temporary is None or error.errno not in _NO_HARD_LINKS:
                raise
            if os.path.lexists(self.target):
                raise FileExistsError from None
            self._rename(self.temporary, name)
            self.temporary = None

    def _replace(self) -> None:
        """Put the draft in the place of the file that has its name."""
        if self.target.is_dir():  # a folder cannot be replaced, and the system's words are no help
            raise FileExistsError
        if self.temporary is None:
            hidden = _hidden_name()
            self._link(hidden)
            self.temporary = hidden
        self._rename(self.temporary, self.target.name)
        self.temporary = None

    def _rename(self, source: str, name: str) -> None:
        os.rename(source, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def close(self) -> None:
        """Leave nothing but what was committed."""
        os.close(self.descriptor)
        if self.temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(self.temporary, dir_fd=self.folder)
        os.close(self.folder)


@contextmanager
def draft(target: Path, mode: int) -> Iterator[Draft]:
    """A draft of a file of this name, with these permissions or fewer (the process has its mask)."""
    with told(target):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            descriptor, temporary = _create(folder, mode)
        except BaseException:
            os.close(folder)
            raise
    created = Draft(target, descriptor, folder, temporary)
    try:
        yield created
    finally:
        created.close()


def _create(folder: int, mode: int) -> tuple[int, str | None]:
    if _OPEN_FILES.is_dir():  # where an unnamed file gets its name from
        try:
            flags = os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC
            return os.open(".", flags, mode, dir_fd=folder), None
        except OSError as error:
            if error.errno not in _NO_UNNAMED_FILES:
                raise
    name = _hidden_name()
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=folder), name


def _hidden_name() -> str:
    return f".microagg-{secrets.token_hex(8)}"


@contextmanager
def told(target: Path) -> Iterator[None]:
    """What the operating system refuses, in our own words."""
    try:
        yield
    except FileExistsError:
        raise errors.output_exists(str(target)) from None
    except errors.OutputError:
        raise
    except OSError as error:
        raise errors.cannot_write(str(target), error.strerror or "writing failed") from None
