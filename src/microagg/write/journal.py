"""A file of finished work, one line each, so that a run that was interrupted can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg import wording
from microagg.write.drafts import OWNER_ONLY, translating_os_errors
from microagg.write.internal import Internal


@dataclass(frozen=True, slots=True)
class Journal:
    """Lines of JSON, each with a key and its result. Only its owner can read it.

    Lines are only added. A line that was cut off, by a full disk or a killed process, is skipped.
    """

    path: Path

    def check(self) -> None:
        """Refuse, before any work is done, a path that cannot be written."""
        if self.path.is_symlink():  # it would lead out of the folder
            raise wording.output_is_a_link(str(self.path))
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise wording.output_exists(str(self.path.parent), replaceable=False)
        Internal(self.path.parent).check(self.path.name, force=True)

    def entries(self) -> dict[str, dict[str, Any]]:
        """The results of all complete lines, by key."""
        known: dict[str, dict[str, Any]] = {}
        if not self.path.exists():
            return known
        with translating_os_errors(self.path):
            lines = self.path.read_text("utf-8", errors="replace").splitlines()
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and isinstance(entry.get("key"), str):
                found = entry.get("found")
                if isinstance(found, dict):
                    known[entry["key"]] = found
        return known

    def add(self, key: str, found: Mapping[str, Any]) -> None:
        """Append a line; the newline before it ends one that was cut off."""
        text = "\n" + json.dumps({"key": key, "found": dict(found)}, allow_nan=False) + "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with translating_os_errors(self.path):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.path, flags, OWNER_ONLY)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
