"""The records of a source and their masked counterparts, side by side: what every measure is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.int64]
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """n records before and after masking, row by row the same respondent.

    `columns`: names of the p keys; `original`, `masked`: (n, p), NaN where missing; `kinds`: of keys that
    hold no numbers, date, ordinal or nominal: their values are seconds, places of levels, or codes from 0
    on, where a missing category is a code too; `yes_no`: nominal keys whose codes 0 and 1 are numbers;
    `paths`: of nominal keys with a taxonomy, by code what stands above it at each level, itself at last;
    `subsets`: which columns were masked together, as positions in `columns`; `groups`: the class of each
    record, numbered from 0, of those that share all released values of strata and masked columns; `strata`:
    the stratum of each record, all 0 without any; `weights`: None without any; `confidential`: by name, the
    codes of the source's values, numbered from 0 in their order (a missing value is a value); `numbers`:
    by name, other numeric columns of the source that are released unmasked, NaN where missing, confidential
    ones among them; `changed_confidential`: by name, codes before and after of confidential columns that
    are not released as they were; `changed_numbers`: of those that hold numbers, these numbers;
    `importance` of keys in the loss, 1 by default; `k`: what was promised, None if that is not known.
    """

    columns: tuple[str, ...]
    original: Values
    masked: Values
    subsets: tuple[tuple[int, ...], ...]
    groups: Codes
    strata: Codes
    weights: Values | None = None
    confidential: Mapping[str, Codes] = field(default_factory=dict)
    numbers: Mapping[str, Values] = field(default_factory=dict)
    k: int | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    yes_no: frozenset[str] = frozenset()
    paths: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    importance: Mapping[str, float] = field(default_factory=dict)
    changed_confidential: Mapping[str, tuple[Codes, Codes]] = field(default_factory=dict)
    changed_numbers: Mapping[str, tuple[Values, Values]] = field(default_factory=dict)
    _memory: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    def remember(self, what: str, compute: Callable[[], _Result]) -> _Result:
        """The result of `compute`, computed once: for slow steps that several measures share."""
        if what not in self._memory:
            self._memory[what] = compute()
        return cast(_Result, self._memory[what])

    @property
    def n(self) -> int:
        return len(self.original)

    @property
    def p(self) -> int:
        return len(self.columns)

    def kind(self, at: int) -> str:
        """number, date, ordinal or nominal."""
        return self.kinds.get(self.columns[at], "number")

    @property
    def relative_weights(self) -> Values:
        """Weights of records, one on average."""
        return np.ones(self.n) if self.weights is None else self.weights / self.weights.mean()

    def of_numbers(self) -> Pair:
        """The same with keys that hold numbers or dates only; classes stay those of all keys."""
        places = [at for at in range(self.p) if self.kind(at) in ("number", "date")]
        if len(places) == self.p:
            return self
        subsets = (tuple(places.index(at) for at in subset if at in places) for subset in self.subsets)
        return self.remember(
            "numbers",
            lambda: replace(
                self,
                columns=tuple(self.columns[at] for at in places),
                original=self.original[:, places],
                masked=self.masked[:, places],
                subsets=tuple(subset for subset in subsets if subset),
            ),
        )

    @property
    def same(self) -> NDArray[np.bool_]:
        """(n, p): which cells are released as they were; one that is missing before and after is."""
        missing = np.isnan(self.original) & np.isnan(self.masked)
        return np.asarray((self.original == self.masked) | missing)


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """The result of a measure: one number, and the numbers of its parts by their names.

    `parts` are for tables: by column, by subset, by scenario … in the order in which they are to be shown.
    `note`: what a reader must know beside the number, such as what was left out or a value to compare with.
    `others`: the names of parts that are plain numbers, not in the measure's unit.
    `allowed`: what the value would be if nothing but the size of the groups protected, where that is known.
    """

    value: float
    parts: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    others: tuple[str, ...] = ()
    allowed: float | None = None
