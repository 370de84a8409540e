"""What those who get a release may know about it, from the released table and the settings alone.

Nothing here is given the source, the verdict or the groups, so that nothing of them can be shown: two
sources with the same release and settings have the same facts. The one exception is the band of the
information loss, which the caller makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microagg import __version__
from microagg.arrow_values import to_numpy
from microagg.model import ColumnRoles
from microagg.plan.protection import Protection
from microagg.report.facts import ColumnHolds, ExternalFacts, LossBand, Policies, level_texts
from microagg.verdict import Verdict
from microagg.verify.classes import Classes, TableClasses, codes_of
from microagg.verify.key_readings import key_readings
from microagg.verify.promises import Notation
from microagg.verify.values import as_understood


def facts_outside(released: pa.Table, protection: Protection, loss: LossBand | None) -> ExternalFacts:
    """All facts of the external report."""
    classes, k = TableClasses(released), protection.k
    subsets = [protection.strata + subset for subset in protection.subsets]
    keys = (*protection.strata, *chain.from_iterable(protection.subsets))
    counts, own_counts = (
        tuple(classes.by(names).counted(names, k) for names in each)
        for each in (subsets, protection.own_subsets)
    )
    together = classes.by(keys).counted(keys, k) if len(subsets) > 1 else None
    partial = together is not None and together.below > 0
    grouped = [classes.by(names) for names in (subsets if partial else [*subsets, keys])]
    policies = _policies(released, protection)
    columns = _released_columns(released, protection)
    return ExternalFacts(
        written=datetime.now(UTC).strftime("%Y-%m-%d"),
        software=f"microagg {__version__}",
        k=k,
        records=released.num_rows,
        dropped=len(protection.drop),
        sentence=Verdict(k, subsets=counts, joint=together).sentence,
        counted=tuple(
            (count.columns, what, count.classes, count.smallest)
            for what, of_kind in (
                ("keys", counts),
                ("all keys together", () if together is None else (together,)),
                ("confidential", own_counts),
            )
            for count in of_kind
        ),
        partial=partial,
        homogeneous=_homogeneous(released, policies, grouped),
        policies=policies,
        loss=loss,
        columns=protection.changed,
        released=np.stack([values for values, _ in columns], axis=1),
        holds=tuple(holds for _, holds in columns),
        sizes=np.sort(classes.by(keys).sizes),
    )


def _homogeneous(released: pa.Table, roles: ColumnRoles, grouped: Sequence[Classes]) -> tuple[str, ...]:
    """Counted in released values; what noise was added to has no values to count."""
    return tuple(
        column
        for column in roles.confidential
        if column not in roles.noised
        and any(
            classes.poor(codes_of(as_understood(released.column(column))), roles).any()
            for classes in grouped
        )
    )


def _policies(released: pa.Table, protection: Protection) -> Policies:
    missing = any(released.column(name).null_count for name in protection.changed)
    return Policies(
        **protection.given_to(Policies),
        columns=tuple(released.column_names),
        correlated_noise=protection.confidential_as == "correlated-noise",
        gives_up_values=protection.missing == "by-pattern" and missing,
        zeros_apart=protection.zeros == "apart",
    )


def _released_columns(
    released: pa.Table, protection: Protection
) -> list[tuple[NDArray[np.float64], ColumnHolds]]:
    """The changed columns as doubles, NaN where missing, and what these stand for."""
    readings = key_readings(released, replace(protection, missing_codes={}), Notation())
    found = []
    for name in protection.changed:
        if (own := readings.get(name)) is None:
            found.append((to_numpy(released.column(name).cast(pa.float64())), ColumnHolds()))
        else:
            found.append((own.source, ColumnHolds(own.kind, level_texts(own.places))))
    return found
