"""Records replaced by their groups' means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg import _core, wording
from microagg.model import Labels


def aggregate(values: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    """Each record replaced by its group's mean, in the units of `values`.

    Members of a group get the very same number, bit for bit.
    """
    if len(values) != len(labels):
        raise wording.different_records_to_aggregate(len(values), len(labels))
    return _core.group_means(values, labels)[labels]
