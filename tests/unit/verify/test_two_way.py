"""What is counted of classes that keep tables."""

from __future__ import annotations

import numpy as np

from microagg.verify.classes import Classes
from microagg.verify.published_values import MaskedColumn, _Cells
from microagg.verify.two_way import far_from_means


def test_records_of_a_frequent_value_do_not_make_a_number_far_from_a_mean() -> None:
    """A fifth of the records have the value 50; few others lie between the mean and what is published."""
    values = np.sort(np.concatenate([np.linspace(0.0, 100.0, 801), np.full(200, 50.0)]))
    before = np.array([48.0, 49.0, 50.0])
    classes = Classes.whole(3)
    assert far_from_means(before, np.full(3, 50.5), classes, None, values) == 0
    assert far_from_means(before, np.full(3, 75.0), classes, None, values) == 1
    assert far_from_means(before, np.full(3, 101.0), classes, None, values) == 1


def test_small_weights_and_numbers_do_not_vanish() -> None:
    before, weights = np.array([1.0, 2.0, 6.0]) * 1e-300, np.array([1.0, 1.0, 2.0]) * 1e-80
    classes = Classes.whole(3)
    for published, wrong in ((3.75e-300, 0), (5.9e-300, 1)):
        cells = _Cells.of(MaskedColumn.of(before, np.full(3, published)), classes, weights)
        assert cells.wrong_means(0.0) == wrong
    values = np.linspace(0.0, 6.0, 100) * 1e-300
    assert far_from_means(before, np.full(3, 3.75e-300), classes, weights, values) == 0
    assert far_from_means(before, np.full(3, 5.9e-300), classes, weights, values) == 1
