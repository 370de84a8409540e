"""What should never be seen."""

from __future__ import annotations

from microagg.errors import ContractError


def not_verified() -> ContractError:
    """Some path leads to a release without a passing verdict."""
    return ContractError(
        "A table was to be released without a verdict that lets it pass. "
        "This is a bug in microagg; please report it with the command you typed."
    )


def contract_broken(stage: str, what: str) -> ContractError:
    """A stage returned something it must not."""
    return ContractError(
        f"{stage} broke its contract: {what}. This is a bug in microagg; please report it with the "
        "method and the size of the data."
    )
