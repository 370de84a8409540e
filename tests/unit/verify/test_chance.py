"""Whether the order of a release tells something, in small and large files."""

import numpy as np
import pytest

from microagg.model import Claims
from microagg.verify.chance import MOST_RANKED, order_findings
from microagg.verify.published_values import MaskedColumn


@pytest.mark.parametrize("records", [1_000, 3 * MOST_RANKED])
def test_the_order_of_the_source_or_of_a_column_is_refused(records: int) -> None:
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(records)
    few = np.where(np.arange(records) % (records // 50) == 0, np.arange(records, dtype=np.float64), np.nan)
    columns = {
        "nothing": rng.normal(size=records),
        "rising": np.arange(records) + rng.normal(size=records),
        "few": few,
    }
    claims = Claims(k=3, subsets=(), keep_order=False)
    found = {
        name: list(order_findings(claims, {name: MaskedColumn.of(own, own)}, shuffled))
        for name, own in columns.items()
    }
    assert not found["nothing"]
    for name in ("rising", "few"):
        assert [(each.rule, each.columns) for each in found[name]] == [("not_shuffled", (name,))]
    (own_order,) = order_findings(claims, {}, np.arange(records))
    assert (own_order.rule, own_order.columns) == ("not_shuffled", ())
