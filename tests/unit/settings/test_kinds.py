"""What values options take."""

from __future__ import annotations

import numpy as np

from microagg.settings import kinds


def test_levels_may_contain_the_sign_between_them() -> None:
    kind = kinds.LevelsByColumn()
    assert kind.parse("ordinal", ["age=<9 < 9-12 < >12"]) == {"age": ["<9", "9-12", ">12"]}
    assert kind.parse("ordinal", ["a=low<high", "b"]) == {"a": ["low", "high"], "b": []}
    levels = {"age": ("<9", "9-12", ">12")}
    (argument,) = kind.arguments("--ordinal", levels)
    assert kind.check("ordinal", kind.parse("ordinal", [argument.removeprefix("--ordinal=")])) == levels


def test_levels_that_are_numbers_are_written_as_they_are_in_files() -> None:
    given = {"school": [1.0, np.int64(2), 2.5, True]}
    assert kinds.LevelsByColumn().check("ordinal", given) == {"school": ("1", "2", "2.5", "True")}
