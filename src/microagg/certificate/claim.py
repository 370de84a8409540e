"""What a certificate claims: reads and checks its fields, and that its leaves are those of a tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from microagg import wording
from microagg.certificate.clock import Tick, no_limit
from microagg.certificate.duals import Duals, RowPair
from microagg.certificate.file import FIELDS, FORMAT, VERSION, WITHOUT_CHARGE, digest_of_fields
from microagg.model import Doubles, Labels, ScaleName

LARGEST_SUMMED = 1e280
"""Sums of larger numbers could overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """The fields of a certificate, each of the right kind and length."""

    n: int
    p: int
    k: int
    scale: ScaleName
    data_digest: str
    partition_digest: str
    labels: Labels
    sse: float
    sst: float
    bound: float
    cuts: tuple[tuple[int, ...], ...]
    screens: tuple[Duals, ...]
    leaves: tuple[Duals, ...]

    @classmethod
    def read(cls, fields: Mapping[str, Any], tick: Tick = no_limit) -> Claim:
        """CertificateError if one is of another kind, the digest differs, or the leaves are no tree's."""
        if not isinstance(fields, Mapping) or fields.get("format") != FORMAT:
            raise wording.not_a_certificate(FORMAT)
        version = fields.get("version")
        if type(version) is not int or version not in (WITHOUT_CHARGE, VERSION):
            raise wording.certificate_of_other_version(WITHOUT_CHARGE, VERSION)
        charged = version != WITHOUT_CHARGE
        _require_fields(fields, FIELDS, "certificate")
        n = _integer(fields["records"], "records", 2, 2**31 - 1)
        p = _integer(fields["attributes"], "attributes", 1, 2**31 - 1)
        k = _integer(fields["k"], "k", 2, n)
        if fields["scale"] not in get_args(ScaleName):
            raise wording.certificate_field("scale", f"one of {', '.join(get_args(ScaleName))}")
        cuts = tuple(_rows_at(rows, "cuts", n) for rows in _list(fields["cuts"], "cuts"))
        for rows in cuts:
            if len(rows) < 3 or len(rows) % 2 == 0:
                raise wording.certificate_field("cuts", "sets of 3, 5, 7, … records")
        claim = cls(
            n,
            p,
            k,
            fields["scale"],
            _text_at(fields["data_digest"], "data_digest"),
            _text_at(fields["partition_digest"], "partition_digest"),
            _labels_at(fields["labels"], n),
            _number_at(fields["sse"], "sse"),
            _number_at(fields["sst"], "sst"),
            _number_at(fields["bound"], "bound"),
            cuts,
            *(
                tuple(_duals(entry, name, n, len(cuts), charged) for entry in _list(fields[name], name))
                for name in ("screens", "leaves")
            ),
        )
        if digest_of_fields(fields) != _text_at(fields["digest"], "digest"):
            raise wording.certificate_altered()
        if not claim.leaves or not _are_of_a_tree(claim.leaves, tick):
            raise wording.certificate_leaves_incomplete()
        return claim


def _are_of_a_tree(leaves: Sequence[Duals], tick: Tick) -> bool:
    """Whether the decisions are those of a tree: a pair that all leaves have decided, both ways, splits
    them into two halves of which the same holds, down to single leaves without further decisions. Which
    of several such pairs comes first does not matter: if all leaves of a tree have decided a pair, then
    those that decided it one way are, without it, the leaves of a tree.
    """
    waiting = [[dict.fromkeys(leaf.apart, False) | dict.fromkeys(leaf.together, True) for leaf in leaves]]
    while waiting:
        part = waiting.pop()
        if len(part) == 1 and not part[0]:
            continue
        pair = next((pair for pair in part[0] if _is_split(pair, part, tick)), None)
        if pair is None:
            return False
        halves: tuple[list[dict[RowPair, bool]], list[dict[RowPair, bool]]] = ([], [])
        for leaf in part:
            halves[leaf.pop(pair)].append(leaf)
        waiting.extend(halves)
    return True


def _is_split(pair: RowPair, leaves: Sequence[Mapping[RowPair, bool]], tick: Tick) -> bool:
    """Whether all leaves have decided the pair, and not all alike."""
    tick()
    return all(pair in leaf for leaf in leaves) and len({leaf[pair] for leaf in leaves}) == 2


def _require_fields(fields: Mapping[str, Any], needed: Sequence[str], where: str) -> None:
    missing = [name for name in needed if name not in fields]
    unknown = [str(name) for name in fields if name not in needed]
    if missing or unknown:
        raise wording.certificate_fields(where, missing, unknown)


def _list(found: Any, name: str) -> list[Any]:
    if not isinstance(found, list):
        raise wording.certificate_field(name, "a list")
    return found


def _text_at(found: Any, name: str) -> str:
    if not isinstance(found, str):
        raise wording.certificate_field(name, "text")
    return found


def _integer(found: Any, name: str, least: int, most: int) -> int:
    if type(found) is not int or not least <= found <= most:
        raise wording.certificate_field(name, f"a whole number from {least} to {most}")
    return found


def _numbers_at(
    found: Any, name: str, length: int | None = None, least: float = -LARGEST_SUMMED
) -> Doubles:
    entries = _list(found, name)
    fits = all(type(entry) in (int, float) and least <= entry <= LARGEST_SUMMED for entry in entries)
    if not fits or (length is not None and len(entries) != length):
        kind = "finite numbers" if least < 0.0 else "finite numbers of at least 0"
        raise wording.certificate_field(name, kind if length is None else f"{kind}, {length} of them")
    return np.array(entries, dtype=np.float64)


def _number_at(found: Any, name: str) -> float:
    return float(_numbers_at([found], name, 1, least=0.0)[0])


def _rows_at(found: Any, name: str, n: int) -> tuple[int, ...]:
    rows = tuple(_integer(row, name, 0, n - 1) for row in _list(found, name))
    if len(set(rows)) < len(rows):
        raise wording.certificate_field(name, "without a record twice")
    return rows


def _labels_at(found: Any, n: int) -> Labels:
    labels = [_integer(label, "labels", 0, n - 1) for label in _list(found, "labels")]
    if len(labels) != n or list(dict.fromkeys(labels)) != list(range(len(set(labels)))):
        raise wording.certificate_field("labels", f"{n} groups' numbers, counted by first appearance")
    return np.array(labels, dtype=np.int32)


def _duals(found: Any, name: str, n: int, cuts: int, charged: bool) -> Duals:
    pairs = ("apart", "together") if name == "leaves" else ()
    if not isinstance(found, dict):
        raise wording.certificate_field(name, "a list of objects")
    _require_fields(found, (*pairs, "prices", "multipliers", *(["charge"] if charged else [])), name)
    multipliers = _numbers_at(found["multipliers"], "multipliers", least=0.0)
    if len(multipliers) > cuts:
        raise wording.certificate_field("multipliers", f"at most {cuts}, one a cut")
    decisions = [tuple(_pair(pair, side, n) for pair in _list(found[side], side)) for side in pairs]
    decided = [pair for side in decisions for pair in side]
    if len(set(decided)) < len(decided):
        raise wording.certificate_field(name, "without a pair decided twice")
    charge = _number_at(found["charge"], "charge") if charged else 0.0
    return Duals(_numbers_at(found["prices"], "prices", n), multipliers, charge, *decisions)


def _pair(found: Any, name: str, n: int) -> RowPair:
    rows = _rows_at(found, name, n)
    if len(rows) != 2:
        raise wording.certificate_field(name, "pairs of records")
    return min(rows), max(rows)
