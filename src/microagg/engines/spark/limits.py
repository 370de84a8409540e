"""What of `protect` Spark cannot honour, and why."""

from __future__ import annotations

from microagg import wording
from microagg.plan.protection import Protection
from microagg.prepare.large_strata import Sizes

SPARK_BLOCK_RECORDS = 120_000
"""The largest block, unless spark.microagg.blockRecords is set."""

_GROUPS_IN_A_BLOCK = 16


def check_settings(protection: Protection) -> None:
    """`SettingsError` for the first option that would have another effect than in memory, or none."""
    method = protection.method
    refused = {
        f"scale {method.scale}": (
            method.scale in ("robust", "rank"),
            "all records would have to be sorted by each key. Use zscore, range or none.",
        ),
        "seconds": (
            method.seconds is not None,
            "work that is done again after a fault must give the same groups, whatever the time. Use "
            "effort instead.",
        ),
        f"small_strata {protection.small_strata}": (
            protection.small_strata == "nearest",
            "the nearest group of a record may be on another machine. Use suppress, or coarser strata.",
        ),
        "keep_order": (
            protection.keep_order,
            "the records of a frame have no order. Leave it out.",
        ),
        "aggregate covariances": (
            protection.aggregate == "covariances",
            "the means of all blocks would have to be moved together after the last of them is known, and "
            "each task publishes what it finds. Use mean, or protect the data in memory.",
        ),
        "certify": (method.certify, "bounds of blocks do not add up to one of the whole."),
        "threads": (
            method.threads is not None,
            "Spark's own settings say how many cores there are (--master local[2]).",
        ),
        f"confidential_as {protection.confidential_as}": (
            bool(protection.noised),
            "the records of a frame have no number by which a task that is repeated could draw the same "
            "noise for each again. Use keep or subset.",
        ),
    }
    for option, (is_given, reason) in refused.items():
        if is_given:
            raise wording.not_on_spark(option, reason)


def sizes_of(k: int, configured: str | None) -> Sizes:
    """How large blocks may be."""
    least = _GROUPS_IN_A_BLOCK * k
    if configured is None:
        return Sizes(k, max(SPARK_BLOCK_RECORDS, least))
    if not configured.isdecimal() or int(configured) < least:
        raise wording.block_too_small(least, k)
    return Sizes(k, int(configured))


def refuse_files(labels: bool, report: object, external_report: object) -> None:
    """`SettingsError` for files that only one machine with all records could write."""
    asked = {"labels": labels or None, "report": report, "external_report": external_report}
    for option, value in asked.items():
        if value is not None:
            raise wording.not_on_spark(option, "it needs all records on one machine.")
