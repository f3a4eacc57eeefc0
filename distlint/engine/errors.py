"""What ends a run with status 2."""

from __future__ import annotations

from collections.abc import Iterable


class Superseded(BaseException):
    """Nobody waits for the analysis any longer; no error, and caught by those who asked alone."""


class ConfigError(Exception):
    """A configuration file, option or selector that cannot be used; the text is for the user."""


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """The nearest valid word as the end of a message, or nothing when none is near."""
    found = nearest(word, options)
    return f"; did you mean `{found}`?" if found else ""


def nearest(word: str, options: Iterable[str]) -> str | None:
    """The option that the user most likely meant."""
    import difflib  # 10 ms, and only on the way to an error

    spelt = {option.lower(): option for option in options}
    word = word.lower().replace("_", "-")
    close = difflib.get_close_matches(word, spelt, n=10, cutoff=0.6)

    def likeness(option: str) -> tuple[float, int]:
        ratio = difflib.SequenceMatcher(a=option, b=word).ratio()
        agree = [a == b for a, b in zip(option, word, strict=False)]
        return ratio, [*agree, False].index(False)

    return spelt[max(close, key=likeness)] if close else None
