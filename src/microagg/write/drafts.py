"""Files written whole or not at all: a draft has no name until it is committed."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from microagg import errors

OURS_ALONE = 0o600
_SOME_ROOM = 1 << 14
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
    mode: int
    """Its permissions once it has its name; until then its owner can write to it in any case."""
    new_folder: str | None = None
    """In `folder`, to be made when the draft gets its name."""
    hidden: str | None = None
    """A second name, on the way to replace another file."""
    replacing: bool = False

    @property
    def path(self) -> Path:
        """Where the draft can be opened by this process, to write to it or to read it."""
        if self.temporary is None:
            return _OPEN_FILES / str(self.descriptor)
        parent = self.target.parent
        return (parent if self.new_folder is None else parent.parent) / self.temporary

    def opened(self) -> BinaryIO:
        """The draft as a file to write to; to be closed."""
        return os.fdopen(os.dup(self.descriptor), "w+b")

    def opened_as_text(self) -> TextIO:
        """The draft as a file of text in UTF-8 to write to; to be closed."""
        return os.fdopen(os.dup(self.descriptor), "w", encoding="utf-8", newline="")

    def finish(self) -> None:
        """Let the content reach the disk; `OSError` if it is full, at the latest now."""
        os.fsync(self.descriptor)

    def refuse_full_disk(self) -> None:
        """`OSError` if the disk is full, for libraries that do not tell."""
        end = os.fstat(self.descriptor).st_size
        try:
            if os.pwrite(self.descriptor, bytes(_SOME_ROOM), end) < _SOME_ROOM:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.ftruncate(self.descriptor, end)

    def digest(self) -> str:
        """Of the content."""
        with self.path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

    @property
    def name(self) -> str:
        """Of the target, as seen from `folder`."""
        return self.target.name if self.new_folder is None else f"{self.new_folder}/{self.target.name}"

    def commit(self, force: bool = False) -> None:
        """Give the file its name, at once and for good; `SettingsError` if it is taken, unless forced."""
        commit_all([self], force)

    def give_name(self, force: bool) -> None:
        """The name is in the folder, but perhaps not on the disk."""
        with told(self.target):
            if self.mode & OURS_ALONE != OURS_ALONE:
                os.fchmod(self.descriptor, self.mode)
            if self.new_folder is not None:
                with suppress(FileExistsError):
                    os.mkdir(self.new_folder, 0o700, dir_fd=self.folder)
            try:
                self._link(self.name)
            except FileExistsError:
                if not force:
                    raise
                self._replace()

    def settle(self) -> None:
        """Let the name reach the disk.

        Some file systems do not sync folders; the file is there and whole in any case.
        """
        with suppress(OSError):
            os.fsync(self.folder)
            if self.new_folder is not None:
                made = os.open(self.new_folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.folder)
                try:
                    os.fsync(made)
                finally:
                    os.close(made)

    def withdraw(self) -> None:
        """Undo the commit, however far it came, unless it has replaced another file."""
        if not self.replacing:
            self._remove(self.name)
        if self.new_folder is not None:
            with suppress(OSError):  # it may have been there, or hold something else
                os.rmdir(self.new_folder, dir_fd=self.folder)

    def _remove(self, name: str) -> None:
        """Remove the file of this name if it is this one: whoever interrupts may do so at any moment."""
        if self.has(name):
            os.unlink(name, dir_fd=self.folder)

    def has(self, name: str) -> bool:
        """Whether the file of this name is this one."""
        try:
            found = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self.descriptor))

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

    def _replace(self) -> None:
        """Put the draft in the place of the file that has its name."""
        if self.target.is_dir():  # a folder cannot be replaced, and the system's words are no help
            raise FileExistsError
        name = self.temporary
        if name is None:
            name = self.hidden = _hidden_name()
            self._link(name)
        self.replacing = True
        self._rename(name, self.name)

    def _rename(self, source: str, name: str) -> None:
        os.rename(source, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def close(self) -> None:
        """Leave nothing but what was committed."""
        for name in (self.temporary, self.hidden):
            if name is not None:
                self._remove(name)
        os.close(self.descriptor)
        os.close(self.folder)


def commit_all(drafts: Sequence[Draft], force: bool = False) -> None:
    """Give all of them their names, the last one last, or none of them if one cannot have it.

    Only the death of the process between the first and the last can leave some.
    """
    try:
        for each in drafts:
            each.give_name(force)
        for each in drafts:
            each.settle()
    except BaseException:
        last = drafts[-1]
        if not (last.replacing and last.has(last.name)):  # what was replaced cannot be had back
            for each in reversed(drafts):
                each.withdraw()
        raise


@contextmanager
def draft(target: Path, mode: int, make_folder: bool = False) -> Iterator[Draft]:
    """A draft of a file of this name, with these permissions or fewer (the process has its mask).

    With `make_folder`, the target's folder need not be there; it is made for its owner alone.
    """
    parent, new_folder = target.parent, None
    if make_folder and not parent.exists():
        parent, new_folder = parent.parent, parent.name
    with told(target):
        folder = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            descriptor, temporary = _create(folder, mode)
        except BaseException:
            os.close(folder)
            raise
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if mode & OURS_ALONE != OURS_ALONE:  # sources may be read-only, drafts must not be
            os.fchmod(descriptor, mode | OURS_ALONE)
    created = Draft(target, descriptor, folder, temporary, mode, new_folder)
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
