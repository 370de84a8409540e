"""Random tables and random settings of `protect`."""

from __future__ import annotations

import csv
import random
from dataclasses import asdict
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.recount.recounting import Settings

METHODS = ("mdav", "v-mdav:gamma=0.2", "cbfs", "mdav-mhm", "descent", "centroid", "auto")
NUMBERS = ("x", "y", "z", "u", "v")
LEVELS = ("none", "primary", "secondary", "tertiary")
OF_OTHER_KINDS = ("sector", "school", "born")
"""Columns of categories, levels and dates."""


class RandomCall:
    """A table in a CSV file, and settings; the same seed gives the same call."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.records = self._random.choice((9, 14, 20, 33, 60))
        self.columns = {name: self._numbers() for name in NUMBERS}
        self.columns["region"] = self._codes(("North", "South", "East, far", 'the "West"', None))
        self.columns["job"] = self._codes(("baker", "smith", "Müller"))
        self.columns["sector"] = self._codes(("trade", "0", "art", " farm", "Straße", "7,5", None))
        self.columns["weight"] = [str(self._random.choice((1, 1.5, 2, 8))) for _ in range(self.records)]
        self.columns["school"] = self._codes((*LEVELS, None))
        self.columns["born"] = self._dates()
        people = max(3, self.records // self._random.choice((1, 2)))
        self.columns["person"] = [f"P{self._random.randrange(people):04d}" for _ in range(self.records)]
        self.settings = self._settings()
        self.method = self._random.choice(METHODS)
        self.seed = self._random.randrange(1000)
        self.output = self._random.choice((".csv", ".csv", ".parquet"))

    def _numbers(self) -> list[str | None]:
        draw = self._random.choice(
            (
                lambda: str(self._random.randrange(100)),
                lambda: f"{self._random.gauss(0, 50):.2f}",
                lambda: f"{self._random.lognormvariate(3, 1.5):.1f}",
                lambda: str(self._random.choice((0, 0, 1))),
                lambda: repr(self._random.random() * 10.0 ** self._random.randrange(-3, 6)),
            )
        )
        gaps = self._random.choice((0.0, 0.0, 0.0, 0.15))
        return [None if self._random.random() < gaps else draw() for _ in range(self.records)]

    def _codes(self, codes: tuple[str | None, ...]) -> list[str | None]:
        few = codes[: self._random.randrange(1, len(codes) + 1)]
        return [self._random.choice(few) for _ in range(self.records)]

    def _dates(self) -> list[str | None]:
        first, days = (
            date(self._random.choice((1931, 1969, 2020)), 2, 27),
            self._random.choice((9, 400, 20_000)),
        )
        gaps = self._random.choice((0.0, 0.0, 0.15))
        return [
            None
            if self._random.random() < gaps
            else (first + timedelta(days=self._random.randrange(days))).isoformat()
            for _ in range(self.records)
        ]

    def _maybe(self, value: Any, otherwise: Any, chance: float = 0.3) -> Any:
        return value if self._random.random() < chance else otherwise

    def _settings(self) -> Settings:
        names = self._random.sample(NUMBERS, len(NUMBERS))
        keys = [names[:2]] if self._random.random() < 0.8 else [[names[0]], [names[1]]]
        others = self._random.sample(OF_OTHER_KINDS, self._random.randrange(4))
        if self._random.random() < 0.6:
            keys[0] = [*others, *keys[0]][: self._random.randrange(1, 6)]
        mixed = [name for name in keys[0] if name in OF_OTHER_KINDS]
        confidential = self._maybe([names[2]], [], 0.5)
        strata = self._maybe(["region"], [])
        changed = {
            "strata": strata,
            "small_strata": self._random.choice(("refuse", "nearest", "suppress")) if strata else "refuse",
            "confidential": confidential,
            "confidential_as": self._maybe(
                self._random.choice(("subset", "noise", "correlated-noise")), "keep"
            )
            if confidential
            else "keep",
            "drop": ["job"],
            "weight": self._maybe("weight", None),
            "respondent": self._maybe("person", None, 0.2),
            "amounts": [] if mixed else self._maybe(keys[0][:1], [], 0.2),
            "missing": self._random.choice(("refuse", "by-pattern", "by-pattern")),
            "aggregate": self._maybe("median", "mean", 0.2),
            "decimals": {} if mixed else self._maybe({keys[0][0]: self._random.randrange(3)}, {}),
            "nominal": ["sector"] if "sector" in mixed else [],
            "ordinal": {"school": list(LEVELS)} if "school" in mixed else {},
            "resolution": self._maybe({"born": self._random.choice(("day", "month", "year"))}, {})
            if "born" in mixed
            else {},
            "min_distinct": self._maybe(3, 2) if confidential else 2,
            "keep_order": self._random.random() < 0.3,
        }
        if changed["aggregate"] == "median":
            changed["weight"] = None
        if changed["respondent"] is None:
            changed["drop"].append("person")
        if "born" not in mixed:
            changed["drop"].append("born")
        k = self._random.choice((2, 3, 3, 4, 6))
        acceptable = {
            "pairs": k == 2,
            "real-values": changed["aggregate"] == "median",
            "partial": len(keys) > 1,
            "distinct": confidential,
            "predicted": confidential and changed["confidential_as"] == "keep",
            "dominated": changed["weight"] or changed["amounts"],
        }
        accept = [rule for rule, fits in acceptable.items() if fits and self._random.random() < 0.8]
        return Settings(k=k, keys=keys, accept=accept, **changed)

    def write(self, path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values(), strict=True))

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `protect`, without defaults: an option without effect is refused."""
        given = {name: value for name, value in asdict(self.settings).items() if value}
        defaults = {"small_strata": "refuse", "p_percent": 10.0, "min_distinct": 2, "aggregate": "mean"}
        defaults |= {"confidential_as": "keep", "missing": "refuse"}
        given = {name: value for name, value in given.items() if defaults.get(name) != value}
        given.setdefault("respondent", "none")
        if self.method == "auto":
            given["effort"] = "fast"
        return {**given, "rest": "pass", "method": self.method, "seed": self.seed, "threads": 1}
