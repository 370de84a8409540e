"""The file: how a certificate is written and loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg import wording
from microagg.certificate.arithmetic import digest_of_labels, digest_of_points
from microagg.model import Labels, ScaleName

FORMAT, VERSION = "microagg certificate", 2
WITHOUT_CHARGE = 1
"""The previous version, whose screens and leaves have no charge; it counts as 0."""

FIELDS = (
    "format", "version", "records", "attributes", "k", "scale", "data_digest", "partition_digest", "labels",
    "sse", "sst", "bound", "cuts", "screens", "leaves", "digest",
)  # fmt: skip

LARGEST_FILE_BYTES = 2**30

Dual = tuple[ArrayLike, ArrayLike, float]
Leaf = tuple[Sequence[Sequence[int]], Sequence[Sequence[int]], ArrayLike, ArrayLike, float]


def document(
    values: NDArray[np.float64],
    k: int,
    scale: ScaleName,
    labels: Labels,
    sse: float,
    sst: float,
    bound: float,
    cuts: Sequence[Sequence[int]],
    screens: Sequence[Dual],
    leaves: Sequence[Leaf],
) -> dict[str, Any]:
    """The certificate of these figures, ready for `json.dump`. Labels are numbered by first appearance; a
    screen is (prices, multipliers, charge), a leaf (apart, together, prices, multipliers, charge).
    """
    plain = {
        "format": FORMAT,
        "version": VERSION,
        "records": len(values),
        "attributes": values.shape[1],
        "k": int(k),
        "scale": scale,
        "data_digest": digest_of_points(values),
        "partition_digest": digest_of_labels(np.asarray(labels)),
        "labels": [int(label) for label in labels],
        "sse": float(sse),
        "sst": float(sst),
        "bound": float(bound),
        "cuts": [_integers(rows) for rows in cuts],
        "screens": [_plain_duals(*screen) for screen in screens],
        "leaves": [
            {
                "apart": [_integers(pair) for pair in apart],
                "together": [_integers(pair) for pair in together],
            }
            | _plain_duals(prices, multipliers, charge)
            for apart, together, prices, multipliers, charge in leaves
        ],
    }
    return plain | {"digest": digest_of_fields(plain)}


def _integers(rows: Sequence[int]) -> list[int]:
    return [int(row) for row in rows]


def _plain_duals(prices: ArrayLike, multipliers: ArrayLike, charge: float) -> dict[str, Any]:
    return {
        "prices": np.asarray(prices).tolist(),
        "multipliers": np.asarray(multipliers).tolist(),
        "charge": float(charge),
    }


def digest_of_fields(fields: Mapping[str, Any]) -> str:
    """Digest of all fields but the digest itself, in their only serialisation."""
    plain = {name: value for name, value in fields.items() if name != "digest"}
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def load(path: str | Path) -> dict[str, Any]:
    """Read a certificate: one JSON object, no NaN, no name twice. Only `check` shows what it proves."""
    file = Path(path)
    if file.is_dir():
        raise wording.is_a_folder(str(file))
    try:
        if file.stat().st_size > LARGEST_FILE_BYTES:
            raise wording.certificate_too_large(str(file), LARGEST_FILE_BYTES)
        text = file.read_bytes()
    except FileNotFoundError:
        raise wording.no_such_file(str(file)) from None
    except OSError as reason:
        raise wording.cannot_read(str(file), reason) from None
    try:
        found = json.loads(text.decode(), parse_constant=_refuse, object_pairs_hook=_without_repeated_names)
    except (ValueError, RecursionError):
        raise wording.certificate_unreadable(str(file)) from None
    if not isinstance(found, dict):
        raise wording.certificate_unreadable(str(file))
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found
