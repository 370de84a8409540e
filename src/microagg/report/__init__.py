"""Reports as one HTML file each: the internal one tells all, the external one what may be known.

`facts.py` says what each is told. The external page is told nothing that does not follow from the release
and the settings, but for a band of the information loss: what it does not have, it cannot show. `pages.py`
needs the extra `report`.
"""

from microagg.report.facts import (
    FEWEST_RECORDS_FOR_A_BAND,
    Analysis,
    AssessmentFacts,
    ColumnFacts,
    ExternalFacts,
    InternalFacts,
    LossBand,
    Measured,
    Policies,
    Subset,
    Sum,
    TaskFacts,
)
from microagg.report.installed import check_installed, load_matplotlib

__all__ = [
    "FEWEST_RECORDS_FOR_A_BAND",
    "Analysis",
    "AssessmentFacts",
    "ColumnFacts",
    "ExternalFacts",
    "InternalFacts",
    "LossBand",
    "Measured",
    "Policies",
    "Subset",
    "Sum",
    "TaskFacts",
    "check_installed",
    "load_matplotlib",
]
