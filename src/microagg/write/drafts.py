"""Files written completely or not at all: a draft has no name until it is committed."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from microagg import errors, wording
from microagg.process import note_committed, signals_held_back
from microagg.write.leftovers import claim_folder, hidden_name

OWNER_ONLY = 0o600
"""File permissions: read and write for the owner, nothing for others."""
_BYTES_TO_TRY = 1 << 14
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
    older: str | None = None
    """A second name of the file that is replaced, until all drafts have theirs."""

    @property
    def path(self) -> Path:
        """Where the draft can be opened by this process, to write to it or to read it."""
        if self.temporary is None:
            return _OPEN_FILES / str(self.descriptor)
        return self.visible_folder / self.temporary

    @property
    def visible_folder(self) -> Path:
        parent = self.target.parent
        return parent if self.new_folder is None else parent.parent

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
        """`OSError` if the disk is full, after libraries that do not report it."""
        end = os.fstat(self.descriptor).st_size
        try:
            if os.pwrite(self.descriptor, bytes(_BYTES_TO_TRY), end) < _BYTES_TO_TRY:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.ftruncate(self.descriptor, end)

    def digest(self) -> str:
        with self.path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"

    def is_still(self, digest: str) -> bool:
        """Whether the file that has the name now is this one, with that digest and its own permissions.

        It is read through the descriptor that it was written by, whatever has happened to its names.
        """
        found = os.fstat(self.descriptor)
        if not self.is_named(self.name) or stat.S_IMODE(found.st_mode) != self.mode:
            return False
        with os.fdopen(os.dup(self.descriptor), "rb") as file:
            file.seek(0)
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}" == digest

    @property
    def name(self) -> str:
        """The target's name, as seen from `folder`."""
        return self.target.name if self.new_folder is None else f"{self.new_folder}/{self.target.name}"

    def commit(self, force: bool = False) -> None:
        """Give the file its name; `SettingsError` if it is taken, unless forced."""
        commit_all([self], force)

    def prepare(self, force: bool) -> None:
        """Do all that can be done before the file gets its name, so that naming it is a single step."""
        with translating_os_errors(self.target):
            if self.mode & OWNER_ONLY != OWNER_ONLY:
                os.fchmod(self.descriptor, self.mode)
            if self.new_folder is not None:
                with suppress(FileExistsError):
                    os.mkdir(self.new_folder, 0o700, dir_fd=self.folder)
            if force and self._is_taken():
                self._prepare_to_replace()

    def give_name(self, force: bool) -> None:
        """Put the name into the folder; `settle` brings it to the disk."""
        with translating_os_errors(self.target):
            if self.older is None:
                try:
                    self._link(self.name)
                    return
                except FileExistsError:
                    if not force:
                        raise
                self._prepare_to_replace()  # the other file came just now
            self._replace()

    def settle(self) -> None:
        """Bring the name to the disk, and remove the file that was replaced.

        Some file systems do not sync folders; the file is there and whole in any case.
        """
        if self.older is not None:
            self._unlink(self.older)
        with suppress(OSError):
            os.fsync(self.folder)
            if self.new_folder is not None:
                made = os.open(self.new_folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.folder)
                try:
                    os.fsync(made)
                finally:
                    os.close(made)

    def withdraw(self) -> None:
        """Undo the commit, however far it got; `OSError` if a replaced file cannot be put back."""
        try:
            if self.older is None:
                self._remove(self.name)
            else:
                self._put_back(self.older)
        finally:
            if self.new_folder is not None:
                with suppress(OSError):  # it may have been there, or hold something else
                    os.rmdir(self.new_folder, dir_fd=self.folder)

    def _put_back(self, older: str) -> None:
        if not self._exists(older):
            return
        if self.is_named(self.name) or not self._is_taken():
            self._rename(older, self.name)
        # Else it was not replaced yet, or somebody else has replaced it since: it is theirs.
        self._unlink(older)
        self.older = None

    def _remove(self, name: str) -> None:
        """Remove the file of this name, but only if it is this draft: others may have replaced it."""
        if self.is_named(name):
            self._unlink(name)

    def _unlink(self, name: str) -> None:
        with suppress(OSError):  # the rest is hidden, and removed by the next run
            os.unlink(name, dir_fd=self.folder)

    def _is_taken(self) -> bool:
        return self._exists(self.name)

    def _exists(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def is_named(self, name: str) -> bool:
        """Whether the file of this name is this draft."""
        try:
            found = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self.descriptor))

    def _link(self, name: str) -> None:
        """Give the draft a name; unlike renaming, `FileExistsError` if a file has it already."""
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

    def _prepare_to_replace(self) -> None:
        """Give hidden names to the draft and to the file that has its name."""
        if stat.S_ISDIR(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode):
            raise FileExistsError  # a folder cannot be replaced, and the system's message is no help
        if self.temporary is None:
            self.hidden = hidden_name()
            self._link(self.hidden)
        self.older = hidden_name()
        try:
            os.link(
                self.name,
                self.older,
                src_dir_fd=self.folder,
                dst_dir_fd=self.folder,
                follow_symlinks=False,
            )
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise

    def _replace(self) -> None:
        """Put the draft in the place of the file that has its name."""
        if self.older is not None and not self._exists(self.older):  # without hard links: in two steps
            self._rename(self.name, self.older)
        new = self.temporary if self.temporary is not None else self.hidden
        if new is None:
            raise wording.contract_broken("commit", "the draft has no name of its own to be renamed from")
        self._rename(new, self.name)

    def _rename(self, source: str, name: str) -> None:
        os.rename(source, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def close(self) -> None:
        """Remove all names but the committed one."""
        for name in (self.temporary, self.hidden):
            if name is not None:
                self._remove(name)
        os.close(self.descriptor)
        os.close(self.folder)


def commit_all(drafts: Sequence[Draft], force: bool = False) -> None:
    """Give all drafts their names, the last one last, or none of them if one cannot have its name."""
    with committing(drafts, force):
        pass


@contextmanager
def committing(drafts: Sequence[Draft], force: bool = False, main: str | None = None) -> Iterator[None]:
    """Give all drafts their names, the last one last; take all names back if one is not possible or if the
    block fails. `main`: the file to be shown as the result (default: the last one).

    Replaced files are kept until all is done, and put back if it fails. Signals wait, so that only the
    death of the process between the first and the last name can leave some drafts with a name.
    """
    with signals_held_back():
        try:
            for each in drafts:
                each.prepare(force)
            for each in drafts:
                each.give_name(force)
            yield
        except BaseException:
            _withdraw(drafts)
            raise
        for each in drafts:
            each.settle()
        note_committed(main or str(drafts[-1].target))


def _withdraw(drafts: Sequence[Draft]) -> None:
    lost = []
    for each in reversed(drafts):
        try:
            each.withdraw()
        except OSError:
            lost.append(each)
    if lost:
        raise wording.not_put_back(
            {str(each.target): str(each.visible_folder / (each.older or "")) for each in lost}
        )


@contextmanager
def draft(target: Path, mode: int, make_folder: bool = False) -> Iterator[Draft]:
    """A draft of the file `target`, with these permissions or fewer, by the umask of the process.

    With `make_folder`, a missing folder of the target is made, accessible to its owner only.
    """
    parent, new_folder = target.parent, None
    if make_folder and not parent.exists():
        parent, new_folder = parent.parent, parent.name
    with translating_os_errors(target):
        folder = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            claim_folder(folder)
            descriptor, temporary = _create(folder, mode)
        except BaseException:
            os.close(folder)
            raise
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if mode & OWNER_ONLY != OWNER_ONLY:  # sources may be read-only, drafts must not be
            os.fchmod(descriptor, mode | OWNER_ONLY)
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
    name = hidden_name()
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=folder), name


@contextmanager
def translating_os_errors(target: Path) -> Iterator[None]:
    """Raise `OutputError`s in place of the operating system's errors."""
    try:
        yield
    except FileExistsError:
        raise wording.output_exists(str(target), replaceable=False) from None
    except errors.OutputError:
        raise
    except OSError as error:
        # Not the error's own message: those of libraries differ from the system's.
        reason = "writing failed" if error.errno is None else os.strerror(error.errno)
        raise wording.cannot_write(str(target), reason) from None
