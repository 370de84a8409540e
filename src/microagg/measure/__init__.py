"""What a release loses and what it risks."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from microagg.measure.catalogue import Measure


def _listed(module: str, name: str) -> dict[str, Measure]:
    """A part of the catalogue, empty where it is not there."""
    if find_spec(f"microagg.measure.{module}") is None:
        return {}
    found: dict[str, Measure] = getattr(import_module(f"microagg.measure.{module}"), name)
    return found


MEASURES: dict[str, Measure] = _listed("utility_catalogue", "UTILITY") | _listed("risk_catalogue", "RISK")
"""Every measure by name, utility first."""
