"""Reports as one HTML file each: the internal one tells all, the external one what may be known.

`facts.py` says what each is told. The external page is told nothing that could not be read from the
release, but for figures of two digits: what it does not have, it cannot show. `pages.py` needs the extra
`report`.
"""

from microagg.report.facts import (
    Analysis,
    AssessmentFacts,
    ColumnFacts,
    ExternalFacts,
    InternalFacts,
    Measured,
    Policies,
    Subset,
    Sum,
    TaskFacts,
)
from microagg.report.installed import check_installed

__all__ = [
    "Analysis",
    "AssessmentFacts",
    "ColumnFacts",
    "ExternalFacts",
    "InternalFacts",
    "Measured",
    "Policies",
    "Subset",
    "Sum",
    "TaskFacts",
    "check_installed",
]
