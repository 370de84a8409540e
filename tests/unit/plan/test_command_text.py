"""The command line that a plan is equal to, as a shell reads it."""

from __future__ import annotations

import shlex

from microagg.plan.command_text import command_of, repetition_of


def test_every_kind_of_word_becomes_an_option() -> None:
    words = {
        "k": 4,
        "keys": [["a", "b, c"], ["d"]],
        "drop": ['say "x"', "$(rm)"],
        "weight": "w",
        "missing_codes": {"a": [9, 99.5]},
        "decimals": {"a": 0, "b, c": 2},
        "keep_order": True,
        "noise": 0.1,
        "method": "cbfs+mhm",
        "seed": 7,
    }
    assert shlex.split(command_of(words, "-data.csv", "out.csv")) == [
        "microagg", "protect", "./-data.csv", "-k", "4",
        '--keys=a,"b, c"', "--keys=d", '--drop="say ""x""",$(rm)', "--weight=w",
        "--missing-codes=a=9,99.5", '--decimals=a=0,"b, c=2"', "--keep-order", "--noise=0.1",
        "--method=cbfs+mhm", "--seed=7", "-o", "out.csv",
    ]  # fmt: skip


def test_a_release_is_repeated_from_its_record() -> None:
    assert shlex.split(repetition_of("-a b.json", "-data.csv", "out.csv")) == [
        "microagg", "protect", "./-data.csv", "--repeat", "./-a b.json", "-o", "out.csv",
    ]  # fmt: skip
