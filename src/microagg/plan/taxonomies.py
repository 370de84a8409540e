"""Taxonomies of codes, such as occupations: what stands above each code, read from a file or as given."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from microagg import wording

MOST_BYTES = 50_000_000


def with_taxonomies(
    nominal: Sequence[str], taxonomy: Iterable[str], ordinal: Iterable[str]
) -> tuple[str, ...]:
    """The columns that hold categories: also those whose codes have a taxonomy, whatever their type."""
    return tuple(dict.fromkeys((*nominal, *(column for column in taxonomy if column not in {*ordinal}))))


def parents_of(column: str, given: str | Mapping[str, str]) -> dict[str, str]:
    """By code, the code above it, or nothing for those at the top, of a file or a mapping.

    `SettingsError` or `DataError` unless these are trees.
    """
    parents = _from_file(given) if isinstance(given, str) else dict(given)
    if not parents:
        raise wording.taxonomy_empty(column)
    unknown = [parent for parent in parents.values() if parent and parent not in parents]
    if unknown:
        raise wording.taxonomy_unknown_parent(column, len(set(unknown)), unknown[0])
    if (code := _code_of_a_cycle(parents)) is not None:
        raise wording.taxonomy_cycle(column, code)
    return parents


def _code_of_a_cycle(parents: Mapping[str, str]) -> str | None:
    below_a_top: set[str] = {""}
    for code in parents:
        chain: dict[str, None] = {}
        while code not in below_a_top:
            if code in chain:
                return code
            chain[code] = None
            code = parents[code]
        below_a_top.update(chain)
    return None


def _from_file(path: str) -> dict[str, str]:
    text = _text_of(Path(path))
    header = text.partition("\n")[0]
    delimiter = next((sign for sign in ";\t" if sign in header), ",")
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except csv.Error:
        raise wording.taxonomy_not_csv(path) from None
    names = [name.strip().lower() for name in rows[0]] if rows else []
    if names.count("code") != 1 or names.count("parent") != 1:
        raise wording.taxonomy_without_header(path)
    at, above = names.index("code"), names.index("parent")
    parents: dict[str, str] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not any(map(str.strip, row)):
            continue
        if len(row) != len(names) or not row[at].strip():
            raise wording.taxonomy_bad_row(path, number)
        code = row[at].strip()
        if code in parents:
            raise wording.taxonomy_code_twice(path, code)
        parents[code] = row[above].strip()
    return parents


def _text_of(path: Path) -> str:
    try:
        if path.is_dir():
            raise wording.is_a_folder(str(path))
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise wording.taxonomy_not_csv(str(path))
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise wording.no_such_file(str(path)) from None
    except UnicodeDecodeError:
        raise wording.taxonomy_not_csv(str(path)) from None
    except OSError as error:
        raise wording.cannot_read(str(path), error) from None


def paths_of(parents: Mapping[str, str], codes: list[str | None]) -> list[list[Any]]:
    """For each code what stands above it, from the top on, itself at last and again down to the full depth.

    A missing code (None) is apart from all others. `KeyError` for a code that the taxonomy lacks.
    """
    chains: dict[str, list[Any]] = {}
    for code in parents:
        chain = [code]
        while parents[chain[0]]:
            chain.insert(0, parents[chain[0]])
        chains[code] = chain
    depth = max(map(len, chains.values()))
    found = [[None] if code is None else chains[code] for code in codes]
    return [[*chain, *chain[-1:] * (depth - len(chain))] for chain in found]
