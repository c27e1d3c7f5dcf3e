"""How far an advance has come: a line that is written over and over, in terminals and notebooks alike."""

from __future__ import annotations

import sys
import time
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """What a progress function is called with."""

    step: int  #: steps taken by this advance()
    steps: int  #: steps that it will take
    time: float  #: that the ensemble has reached


def in_notebook() -> bool:
    """Are we run by Jupyter's kernel? It shows stderr, carriage returns included, but is no terminal."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def make_bar() -> Any:
    if in_notebook():
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            pass
        else:
            return _TqdmBar(tqdm)
    return TextBar(sys.stderr)


class TextBar:
    """42%|####      | 420/1000 steps, t = 2.1 [00:03<00:04, 140 steps/s]"""

    _width = 20

    def __init__(self, stream: Any) -> None:
        self._stream = stream = None if getattr(stream, "closed", False) else stream  # None: there is no console
        self._redraws = in_notebook() or bool(getattr(stream, "isatty", lambda: False)())
        self._interval = 0.1 if self._redraws else 10.0  # seconds; a log file gets a few lines of its own
        self._block = "█" if "utf" in (getattr(stream, "encoding", None) or "").lower() else "#"
        self._start = time.monotonic()
        self._last = self._start - (self._interval if self._redraws else 0.0)
        self._now: Progress | None = None
        self._drawn: Progress | None = None
        self._length = 0

    def update(self, now: Progress) -> None:
        self._now = now
        if time.monotonic() - self._last >= self._interval:
            self._draw()

    def close(self) -> None:
        if self._now is not None and self._now != self._drawn:
            self._draw()
        if self._drawn is not None and self._redraws:
            self._write("\n")

    def _draw(self) -> None:
        assert self._now is not None
        text = self._text(self._now)
        # Blanks over what a longer line would leave behind.
        self._write(f"\r{text:<{self._length}}" if self._redraws else text + "\n")
        self._length, self._last, self._drawn = len(text), time.monotonic(), self._now

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # a closed or broken pipe must not end a long run
            self._stream = None

    def _text(self, now: Progress) -> str:
        spent = time.monotonic() - self._start
        share = now.step / now.steps if now.steps else 1.0
        speed = now.step / spent if spent > 0 else 0.0
        left = _clock((now.steps - now.step) / speed) if speed > 0 else "?"
        bar = (self._block * round(share * self._width)).ljust(self._width)
        return (
            f"{int(100 * share):3d}%|{bar}| {now.step}/{now.steps} steps, t = {now.time:.5g} "
            f"[{_clock(spent)}<{left}, {speed:.3g} steps/s]"
        )


class _TqdmBar:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None  # made when its length is known

    def update(self, now: Progress) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=now.steps, unit="steps")
        self._bar.set_postfix_str(f"t = {now.time:.5g}", refresh=False)
        self._bar.update(now.step - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"
