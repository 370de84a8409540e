"""What is refused, asserted by its kind: sentences are asserted in the tests of `wording` alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from microagg.errors import UnsafeRelease
from microagg.verdict import Finding, Verdict
from microagg.wording import message_of


@contextmanager
def refusal(
    error: type[Exception], kind: str, /, **figures: object
) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Like `pytest.raises`, for a refusal by this function of `wording`, which was given these figures."""
    with pytest.raises(error) as caught:
        yield caught
    message = message_of(caught.value)
    assert message.kind == kind, caught.value
    for name, value in figures.items():
        assert message.figures[name] == value, message


def rules(findings: Iterable[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


def open_in(verdict: Verdict, rule: str = "") -> list[Finding]:
    """What forbids a release, of one rule or of all."""
    return [each for each in (*verdict.failures, *verdict.to_decide) if rule in ("", each.rule)]


def is_like(found: Finding, expected: Finding) -> bool:
    """The same rule, and the expected columns and figures; more may have been found."""
    return (
        found.rule == expected.rule
        and found.action == expected.action
        and found.columns[: len(expected.columns)] == expected.columns
        and all(found.figures[name] == value for name, value in expected.figures.items())
    )


def has(findings: Iterable[Finding], expected: Finding) -> bool:
    return any(is_like(found, expected) for found in findings)


@contextmanager
def unsafe(*expected: Finding) -> Iterator[pytest.ExceptionInfo[UnsafeRelease]]:
    """`UnsafeRelease` with each of these findings."""
    with pytest.raises(UnsafeRelease) as caught:
        yield caught
    for each in expected:
        assert has(caught.value.findings, each), caught.value.findings
