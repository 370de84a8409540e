"""What a terminal shows: how far a run is, and results as JSON."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

from microagg.methods.run import Progress
from microagg.model import gap_above, nearness
from microagg.wording import visible


class Bar:
    """A progress bar on standard error for anything over a second. While it can be seen, Ctrl-C asks for
    the best partition so far, and a second Ctrl-C gives up; elsewhere Ctrl-C gives up at once.
    """

    def __init__(self, hidden: bool) -> None:
        self._hidden = hidden
        self._close: Callable[[], None] | None = None
        self._draw: Callable[[Progress], None] = lambda _: None
        self._something_found = False
        self._stopping = False
        self._handler: Any = None

    def __enter__(self) -> Bar:
        if not self._hidden:
            self._handler = signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
        if self._close is not None:
            self._close()

    def _interrupted(self, _signal: int, _frame: FrameType | None) -> None:
        if self._stopping or not self._something_found:
            raise KeyboardInterrupt
        self._stopping = True

    @property
    def watcher(self) -> Callable[[Progress], bool] | None:
        """What a run is to call: nothing, if nobody can see the bar."""
        return None if self._hidden else self.update

    def update(self, progress: Progress) -> bool:
        """Draw; called by the run about twenty times a second. True: stop with the best so far."""
        self._something_found |= progress.has_groups or progress.information_loss is not None
        if self._close is None and not self._hidden and progress.seconds >= 1.0:
            self._open()
        self._draw(progress)
        return self._stopping

    def _open(self) -> None:
        # Few runs take long enough for a bar.
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bars

        bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[share]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[loss]}"),
            console=Console(stderr=True),
            transient=True,
        )
        bars.start()
        task = bars.add_task("", total=1.0, share="", loss="")
        self._close = bars.stop
        self._draw = lambda progress: bars.update(
            task,
            description=visible(_where(progress)),
            completed=progress.done,
            share=f"{progress.done:4.0%}" if progress.done > 0.0 else "",
            loss=_loss_so_far(progress),
        )


def _where(progress: Progress) -> str:
    return ", ".join(filter(None, [progress.part, progress.stage]))


def _loss_so_far(progress: Progress) -> str:
    if progress.information_loss is None or progress.improvement is None:
        return "(Ctrl-C: stop here)" if progress.has_groups else ""
    if progress.bound_loss is None:
        loss = f"loss {progress.information_loss:.4g} %, {progress.improvement:.1f} % below the start"
    else:
        gap = gap_above(progress.bound_loss, progress.information_loss)
        loss = (
            f"loss {progress.information_loss:.5g} %, bound {progress.bound_loss:.5g} %, "
            f"{nearness(gap)}, {progress.detail}"
        )
    return f"{loss} (Ctrl-C: stop here)"


def one_json(content: object) -> str:
    """One object as JSON in which names are as they are, and no sign is one that a terminal acts upon."""
    text = json.dumps(content, ensure_ascii=False)
    return "".join(sign if visible(sign) == sign else f"\\u{ord(sign):04x}" for sign in text)
