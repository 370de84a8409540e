"""Reports as one HTML file each: the internal one shows all, the external one what may be published.

`facts.py` has the content of each. The external page gets nothing that does not follow from the release and
the settings, apart from a band of the information loss: it cannot show what it does not have. `pages.py`
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
