"""Released columns from which a masked key can be computed, by rules that an outsider can know.

Rules are looked for in a sample of the records (`finder.py`) and counted in all of them (`tables.py`); on
Spark, in those that are collected. Why none is found by chance: `chance.py`.
"""

from __future__ import annotations

from microagg.verify.derived.finder import Derivation
from microagg.verify.derived.tables import derivations

__all__ = ["Derivation", "derivations"]
