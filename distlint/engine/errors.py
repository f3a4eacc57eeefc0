"""What ends a run with status 2."""

from __future__ import annotations

from collections.abc import Iterable


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
    close = difflib.get_close_matches(word.lower().replace("_", "-"), spelt, n=1, cutoff=0.5)
    return spelt[close[0]] if close else None
