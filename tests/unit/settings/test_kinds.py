"""What values options take."""

from __future__ import annotations

from microagg.settings import kinds


def test_levels_may_contain_the_sign_between_them() -> None:
    kind = kinds.LevelsByColumn()
    assert kind.parse("ordinal", ["age=<9 < 9-12 < >12"]) == {"age": ["<9", "9-12", ">12"]}
    assert kind.parse("ordinal", ["a=low<high", "b"]) == {"a": ["low", "high"], "b": []}
    levels = {"age": ("<9", "9-12", ">12")}
    (argument,) = kind.arguments("--ordinal", levels)
    assert kind.check("ordinal", kind.parse("ordinal", [argument.removeprefix("--ordinal=")])) == levels
