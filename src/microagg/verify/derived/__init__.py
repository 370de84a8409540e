"""Released columns from which a masked key can be computed, by rules that an outsider can know.

Rules are looked for in a sample of the records and counted in all of them (`finder.py`); on Spark, in those
that are collected. Why none is found by chance: `chance.py`.
"""

from __future__ import annotations

from microagg.verify.derived.finder import Derivation, derivations
from microagg.verify.derived.given_dates import derived_dates

__all__ = ["Derivation", "derivations", "derived_dates"]
