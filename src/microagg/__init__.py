"""Microaggregation: groups of at least k similar records, published as one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from microagg.api.assess import assess as assess
    from microagg.api.assess import compare as compare
    from microagg.api.partition import lower_bound as lower_bound
    from microagg.api.partition import partition as partition
    from microagg.api.partition import partition_each as partition_each
    from microagg.api.protect import protect as protect
    from microagg.api.verify import verify_release as verify_release
    from microagg.assessment.assessment import Assessment as Assessment
    from microagg.assessment.before import RiskBefore as RiskBefore
    from microagg.engines.release import Release as Release
    from microagg.errors import Cancelled as Cancelled
    from microagg.errors import ContractError as ContractError
    from microagg.errors import DataError as DataError
    from microagg.errors import DecisionNeeded as DecisionNeeded
    from microagg.errors import OutputError as OutputError
    from microagg.errors import SettingsError as SettingsError
    from microagg.errors import UnsafeRelease as UnsafeRelease
    from microagg.estimator import Microaggregator as Microaggregator
    from microagg.methods.run import Progress as Progress
    from microagg.results import Bound as Bound
    from microagg.results import EachResult as EachResult
    from microagg.results import Result as Result
    from microagg.trials.comparing import Comparison as Comparison

_HOMES = {
    name: f"microagg.{module}"
    for module, names in {
        "api.assess": "assess compare",
        "api.partition": "lower_bound partition partition_each",
        "api.protect": "protect",
        "api.verify": "verify_release",
        "assessment.assessment": "Assessment",
        "assessment.before": "RiskBefore",
        "engines.release": "Release",
        "errors": "Cancelled ContractError DataError DecisionNeeded OutputError SettingsError "
        "UnsafeRelease",
        "estimator": "Microaggregator",
        "methods.run": "Progress",
        "results": "Bound EachResult Result",
        "trials.comparing": "Comparison",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    """Each public name is imported when it is asked for: the command's help needs none of them, and
    scikit-learn, which takes a second, only those who ask for its face.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


# Not the estimator: `from microagg import *` needs no scikit-learn.
__all__ = ["__version__", *sorted(set(_HOMES) - {"Microaggregator"})]
