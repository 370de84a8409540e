"""Internal files, which only their owner can read: groups, run records, certificates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from microagg import wording
from microagg.write.checks import check_name, check_output
from microagg.write.drafts import OWNER_ONLY, Draft, commit_all, draft, translating_os_errors


def labels_text(labels: Iterable[int]) -> str:
    """The group of each record, in the order of the input: columns `record` (from 1) and `group`."""
    rows = (f"{at + 1},{group}\n" for at, group in enumerate(labels))
    return "".join(["record,group\n", *rows])


def write_labels(path: Path, labels: Iterable[int], force: bool = False) -> None:
    write_text(path, labels_text(labels), force)


def write_text(path: Path, content: str, force: bool = False) -> None:
    write_texts({path: content}, force)


def write_texts(contents: Mapping[Path, str], force: bool = False) -> None:
    """Write all texts, given by path, or none of them."""
    for path in contents:
        check_output(path, force)
    if not contents:
        return
    with ExitStack() as drafts:
        commit_all([drafts.enter_context(text_draft(path, text)) for path, text in contents.items()], force)


@dataclass(frozen=True, slots=True)
class Internal:
    """A folder that only its owner can read, made when something is written to it."""

    folder: Path

    def check(self, *names: str, force: bool = False) -> None:
        """Refuse, before any work is done, files that could not be written."""
        for name in names:
            check_name(self.folder / name)
        if not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise wording.no_output_folder(str(self.folder.parent))
            check_output(self.folder)
            return
        if not self.folder.is_dir():
            raise wording.not_a_folder(str(self.folder))
        for name in names:
            check_output(self.folder / name, force)

    @contextmanager
    def staged(self, contents: Mapping[str, str]) -> Iterator[list[Draft]]:
        """Drafts of files with these names and contents, to be committed; that makes the folder."""
        with ExitStack() as drafts:
            yield [
                drafts.enter_context(text_draft(self.folder / name, text, make_folder=True))
                for name, text in contents.items()
            ]


@contextmanager
def text_draft(
    path: Path, content: str, mode: int = OWNER_ONLY, make_folder: bool = False
) -> Iterator[Draft]:
    """A draft of a file with this text, to be committed."""
    with draft(path, mode, make_folder) as new:
        with translating_os_errors(path):
            with new.opened_as_text() as file:
                file.write(content)
            new.finish()
        yield new
