"""Files written whole or not at all: a draft has no name until it is committed."""

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
        """The path of `folder`."""
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

    def prepare(self, force: bool) -> None:
        """All that can be done before the file gets its name, so that this takes but one step."""
        with told(self.target):
            if self.mode & OURS_ALONE != OURS_ALONE:
                os.fchmod(self.descriptor, self.mode)
            if self.new_folder is not None:
                with suppress(FileExistsError):
                    os.mkdir(self.new_folder, 0o700, dir_fd=self.folder)
            if force and self._taken():
                self._prepare_to_replace()

    def give_name(self, force: bool) -> None:
        """The name is in the folder, but perhaps not on the disk."""
        with told(self.target):
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
        """Let the name reach the disk, and let go of what was replaced.

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
        """Undo the commit, however far it came; `OSError` if what was replaced cannot be put back."""
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
        if self.has(self.name) or not self._taken():
            self._rename(older, self.name)
        # Else it was not replaced yet, or somebody else has replaced it since: it is theirs.
        self._unlink(older)
        self.older = None

    def _remove(self, name: str) -> None:
        """Remove the file of this name if it is this one: whoever interrupts may do so at any moment."""
        if self.has(name):
            self._unlink(name)

    def _unlink(self, name: str) -> None:
        with suppress(OSError):  # what is left is hidden, and swept by the next run
            os.unlink(name, dir_fd=self.folder)

    def _taken(self) -> bool:
        return self._exists(self.name)

    def _exists(self, name: str) -> bool:
        try:
            os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return True

    def has(self, name: str) -> bool:
        """Whether the file of this name is this one."""
        try:
            found = os.stat(name, dir_fd=self.folder, follow_symlinks=False)
        except OSError:
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

    def _prepare_to_replace(self) -> None:
        """Hidden names for the draft and for the file that has its name."""
        if stat.S_ISDIR(os.stat(self.name, dir_fd=self.folder, follow_symlinks=False).st_mode):
            raise FileExistsError  # a folder cannot be replaced, and the system's words are no help
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
        """Leave nothing but what was committed."""
        for name in (self.temporary, self.hidden):
            if name is not None:
                self._remove(name)
        os.close(self.descriptor)
        os.close(self.folder)


def commit_all(drafts: Sequence[Draft], force: bool = False) -> None:
    """Give all of them their names, the last one last, or none of them if one cannot have it."""
    with committing(drafts, force):
        pass


@contextmanager
def committing(drafts: Sequence[Draft], force: bool = False, main: str | None = None) -> Iterator[None]:
    """Give all of them their names, the last one last; take them back if one cannot have it or if the block
    fails, which does what must come with them. `main`: the file that all is about (default: the last one).

    Files that are replaced are kept until all is done, and put back if it is not. Signals wait, so that
    only the death of the process between the first name and the last can leave some of them.
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
    """Each of them, whatever becomes of the others."""
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
    """A draft of a file of this name, with these permissions or fewer (the process has its mask).

    With `make_folder`, the target's folder need not be there; it is made for its owner alone.
    """
    parent, new_folder = target.parent, None
    if make_folder and not parent.exists():
        parent, new_folder = parent.parent, parent.name
    with told(target):
        folder = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            claim_folder(folder)
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
    name = hidden_name()
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC
    return os.open(name, flags, mode, dir_fd=folder), name


@contextmanager
def told(target: Path) -> Iterator[None]:
    """What the operating system refuses, in our own words."""
    try:
        yield
    except FileExistsError:
        raise wording.output_exists(str(target)) from None
    except errors.OutputError:
        raise
    except OSError as error:
        # Not the error's own words: those of libraries differ from the system's.
        reason = "writing failed" if error.errno is None else os.strerror(error.errno)
        raise wording.cannot_write(str(target), reason) from None
