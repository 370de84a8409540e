"""Every exception of microagg. Their sentences are in `wording`."""

from __future__ import annotations

from typing import Any


class SettingsError(ValueError):
    """A setting is wrong by itself or does not fit the data."""


class DataError(ValueError):
    """The data cannot be used as they are."""


class CertificateError(DataError):
    """A certificate does not prove what it claims, or not about these data."""


class UnsafeRelease(Exception):  # noqa: N818 (a verdict, not a mishap)
    """The verifier refused a release. `findings` are its reasons, `verdict` is all that was counted."""

    findings: tuple[Any, ...] = ()
    verdict: Any = None


class DecisionNeeded(UnsafeRelease):
    """Nothing forbids the release, but somebody must accept what was found, or change the settings."""


class MissingExtra(ImportError):  # noqa: N818 (what is missing, not a mishap)
    """An optional dependency is not installed."""


class NotEnoughMemory(MemoryError):  # noqa: N818 (what is missing, not a mishap)
    """It is known beforehand that memory will not suffice."""


class OutputError(OSError):
    """Something could not be written."""


class ContractError(Exception):
    """A stage broke the contract: a bug of microagg, never of its user."""


class Cancelled(Exception):  # noqa: N818 (asked for, not an error)
    """The run was cancelled before its method could return a partition."""


class DeadlinePassed(Exception):  # noqa: N818 (a signal between kernels and stages)
    """The deadline struck inside a refinement's kernel; the stage returns its start."""
