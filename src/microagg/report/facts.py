"""What pages show. The engine collects it, so that a page has nothing that it must not show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from microagg.model import ColumnRoles

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


def level_texts(levels: Iterable[object]) -> tuple[str, ...]:
    """Levels as charts name them."""
    whole = (int(each) if isinstance(each, float) and each.is_integer() else each for each in levels)
    return tuple("missing" if each is None else str(each) for each in whole)


@dataclass(frozen=True, slots=True)
class ColumnHolds:
    """What the numbers of a column stand for: places of `levels`, or seconds since 1970 if it has dates."""

    kind: str = "number"
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Subset:
    """Columns masked together: their values before and after, and the groups, record by record.

    `before`, `after`: (n, p), NaN where missing; `groups`: of each record, from 0 on; `holds`: of each
    column.
    """

    columns: tuple[str, ...]
    before: Values
    after: Values
    groups: Codes
    holds: tuple[ColumnHolds, ...]

    def complete(self) -> Subset:
        """The records without a missing value, before or after."""
        rows = ~(np.isnan(self.before) | np.isnan(self.after)).any(axis=1)
        return replace(self, before=self.before[rows], after=self.after[rows], groups=self.groups[rows])

    def numeric(self) -> Subset:
        """The columns whose values can be added: no categories without an order."""
        return self.of([at for at, each in enumerate(self.holds) if each.kind != "nominal"])

    def of(self, chosen: Sequence[int]) -> Subset:
        return Subset(
            tuple(self.columns[at] for at in chosen),
            self.before[:, chosen],
            self.after[:, chosen],
            self.groups,
            tuple(self.holds[at] for at in chosen),
        )


FEWEST_RECORDS_FOR_A_BAND = 200
"""With fewer records, the external page shows nothing that was computed from the originals."""


class LossBand(Enum):
    """Information loss as coarsely as it is published: two digits of it can reveal values."""

    BELOW_1 = "below 1 %"
    FROM_1_TO_5 = "1 to 5 %"
    FROM_5_TO_20 = "5 to 20 %"
    ABOVE_20 = "above 20 %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies(ColumnRoles):
    """How columns were treated: settings and names of released columns, nothing from the source."""

    columns: tuple[str, ...]
    """Of the release."""
    noise: float = 0.0
    """Its standard deviation, as a share of the column's."""
    correlated_noise: bool = False
    gives_up_values: bool = False
    """Values are set to missing where that is needed, and some are missing in the release."""
    zeros_apart: bool = False

    @property
    def accepted_rules(self) -> set[str]:
        return {each.partition("=")[0] for each in self.accept}


@dataclass(frozen=True, slots=True, eq=False)
class ExternalFacts:
    """What may be published about a release. Except for `loss`, all of it follows from the released table
    and the settings: two sources with the same release have the same facts.
    """

    written: str
    software: str
    k: int
    records: int
    dropped: int
    """Columns left out."""
    sentence: str
    """The verdict's sentence on what is verified."""
    counted: tuple[tuple[tuple[str, ...], str, int, int], ...]
    """Columns, their role, number of combinations, records of the rarest one."""
    partial: bool
    """k-anonymous by each subset, but not jointly."""
    homogeneous: tuple[str, ...]
    """Confidential columns with too few different values, as released, in some combination of keys."""
    policies: Policies
    loss: LossBand | None
    """None if there are too few records."""
    columns: tuple[str, ...]
    """Changed columns, of which charts are drawn."""
    released: Values
    """Values of these columns."""
    holds: tuple[ColumnHolds, ...]
    """What they stand for."""
    sizes: Codes
    """Records of each combination of all keys, as released, in ascending order."""
