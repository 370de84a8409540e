"""A file of finished work, one line each, so that a run that was interrupted can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg import errors
from microagg.write.drafts import OURS_ALONE, told


@dataclass(frozen=True, slots=True)
class Journal:
    """Lines of JSON, each with a key and what is known under it. For its owner alone.

    Lines are only ever added. One that was cut off, by a full disk or a killed process, is passed over.
    """

    path: Path

    def check(self) -> None:
        """Refuse, before any work is done, a place that cannot be written. Makes the file."""
        if not self.path.parent.exists() and not self.path.parent.parent.is_dir():
            raise errors.no_output_folder(str(self.path.parent.parent))
        with told(self.path):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
        self._add("")

    def entries(self) -> dict[str, dict[str, Any]]:
        """All that is known, by key."""
        known: dict[str, dict[str, Any]] = {}
        with told(self.path):
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
        """One line more; the newline in front ends one that was cut off."""
        self._add("\n" + json.dumps({"key": key, "found": dict(found)}, allow_nan=False) + "\n")

    def _add(self, text: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with told(self.path):
            descriptor = os.open(self.path, flags, OURS_ALONE)
            try:
                os.write(descriptor, text.encode())
            finally:
                os.close(descriptor)
