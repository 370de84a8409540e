"""What every release has, whichever engine has made it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from microagg.engines.solving import Watcher
from microagg.model import Claims
from microagg.plan.protection import Protection
from microagg.secret_key import SecretKey
from microagg.verdict import Verdict

if TYPE_CHECKING:
    from microagg.engines.release import OutputPaths


class AnyRelease(Protocol):
    """Protected data that have passed their verdict: a `Release` in memory, or a `SparkRelease`."""

    @property
    def data(self) -> Any:
        """What is released, of the kind that was given."""
        ...

    @property
    def verdict(self) -> Verdict: ...

    @property
    def protection(self) -> Protection: ...

    @property
    def claims(self) -> Claims: ...

    @property
    def groups(self) -> int:
        """The number of groups of all subsets together."""
        ...

    @property
    def key(self) -> SecretKey:
        """From which all that is random was drawn."""
        ...

    @property
    def information_loss(self) -> float: ...

    @property
    def bound_loss(self) -> float | None: ...

    @property
    def seconds(self) -> float: ...

    @property
    def record(self) -> dict[str, Any]:
        """All that is needed to repeat the run and to account for it, as plain values; internal."""
        ...

    def with_earlier(self, places: OutputPaths) -> AnyRelease:
        """With a note on other releases of the same source whose records are where this one's will be."""
        ...

    def save(
        self,
        path: str | Path,
        *,
        force: bool = False,
        record: str | Path | None = None,
        labels: bool = False,
        report: str | Path | None = None,
        external_report: str | Path | None = None,
        progress: Watcher | None = None,
    ) -> Path:
        """Write, read back, count again, and only then give the files their names; the record's path."""
        ...
