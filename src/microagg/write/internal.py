"""What must not leave the house: groups, records of runs, certificates. For their owner alone."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from microagg import errors
from microagg.write.checks import check_output
from microagg.write.drafts import OURS_ALONE, Draft, draft, told


def write_labels(path: Path, labels: Iterable[int], force: bool = False) -> None:
    """The group of each record, in the order of the input: columns `record` (from 1) and `group`."""

    def content(file: TextIO) -> None:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["record", "group"])
        rows.writerows((at + 1, group) for at, group in enumerate(labels))

    _write(path, content, force)


def write_json(path: Path, content: Mapping[str, object], force: bool = False) -> None:
    """One JSON object."""
    _write(path, lambda file: json.dump(content, file, allow_nan=False), force)


def write_text(path: Path, content: str, force: bool = False) -> None:
    """Any text, such as TOML."""
    _write(path, lambda file: file.write(content), force)


@dataclass(frozen=True, slots=True)
class Internal:
    """A folder for its owner alone, made when something is written to it."""

    folder: Path

    def check(self, *names: str, force: bool = False) -> None:
        """Refuse, before any work is done, what could not be written."""
        if not self.folder.exists():
            if not self.folder.parent.is_dir():
                raise errors.no_output_folder(str(self.folder.parent))
            check_output(self.folder)
            return
        if not self.folder.is_dir():
            raise errors.not_a_folder(str(self.folder))
        for name in names:
            check_output(self.folder / name, force)

    @contextmanager
    def staged(self, contents: Mapping[str, str]) -> Iterator[list[Draft]]:
        """Drafts of files by name, on the disk, to be committed; the folder is made then."""
        with ExitStack() as drafts:
            yield [
                drafts.enter_context(text_draft(self.folder / name, text, make_folder=True))
                for name, text in contents.items()
            ]


@contextmanager
def text_draft(
    path: Path, content: str, mode: int = OURS_ALONE, make_folder: bool = False
) -> Iterator[Draft]:
    """A draft of a file with this text, on the disk, to be committed."""
    with draft(path, mode, make_folder) as new:
        with told(path):
            with new.opened_as_text() as file:
                file.write(content)
            new.finish()
        yield new


def _write(path: Path, content: Callable[[TextIO], object], force: bool) -> None:
    check_output(path, force)
    with draft(path, OURS_ALONE) as new:
        with told(path):
            with new.opened_as_text() as file:
                content(file)
            new.finish()
        new.commit(force)
