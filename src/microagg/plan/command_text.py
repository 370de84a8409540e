"""A plan as the command line that does the same."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microagg.plan.words import WORDS

_NOT_OPTIONS = ("input", "output", "k")


def command_of(words: Mapping[str, Any], source: str, target: str) -> str:
    """`microagg protect` with these words of a plan, for a shell; names of columns are quoted for it."""
    parts = ["microagg", "protect", *_file(source), "-k", str(words["k"])]
    for name in WORDS:
        if name in words and name not in _NOT_OPTIONS:
            parts += _options(name, words[name])
    return shlex.join([*parts, "-o", target])


def _file(source: str) -> list[str]:
    """A name that begins like an option is given as one in this folder."""
    return [f"./{source}" if source.startswith("-") else source]


def _options(name: str, value: Any) -> Iterator[str]:
    option, kind = f"--{name.replace('_', '-')}", WORDS[name].kind
    if kind == "truth value":
        yield from [option] if value else []
    elif kind == "subsets":
        for subset in value:
            yield f"{option}={_listed(subset)}"
    elif kind == "names":
        yield f"{option}={_listed(value)}"
    elif kind == "codes by column":
        for column, codes in value.items():
            typed = [code if isinstance(code, str) else _number(code) for code in codes]
            yield f"{option}={column}={_listed(typed)}"
    elif kind == "decimals by column":
        yield f"{option}={_listed([f'{column}={number}' for column, number in value.items()])}"
    else:
        yield f"{option}={_number(value)}" if isinstance(value, float) else f"{option}={value}"


def _listed(names: Sequence[str]) -> str:
    """As `--keys` reads it: names with a comma or a quote are put in quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
