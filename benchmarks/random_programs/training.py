"""Random training scripts, for the rules about one file's source: their examples, put together."""

from __future__ import annotations

import random

from distlint.rules.base import SourceRule
from distlint.rules.registry import rules

_UNIT = "    "


def training_script(rng: random.Random) -> str:
    """Some of the bad and good examples of rules about source, in one file and in blocks."""
    chosen = rng.sample(_examples(), rng.choice((1, 1, 2, 3)))
    parts = [_placed(source, number, rng) for number, source in enumerate(chosen)]
    return "\n\n".join(parts) + "\n"


def _examples() -> list[str]:
    return [
        example.code
        for rule in rules().values()
        if issubclass(rule, SourceRule) and not rule.code.startswith("DST0")
        for example in (*rule.bad, *rule.bad, *rule.good)
    ]


def _placed(source: str, number: int, rng: random.Random) -> str:
    """A script as it is, or as the body of a function, a method or a block."""
    kind = rng.choice(("module", "module", "function", "method", "main", "try"))
    if kind == "module" or '"""' in source:
        return source.rstrip()
    if kind == "function":
        return _block(f"def run_{number}(args)", source)
    if kind == "method":
        return f"class Run{number}:\n" + _indented(_block("def run(self)", source))
    if kind == "main":
        return _block('if __name__ == "__main__"', source)
    return _block("try", source) + "\nfinally:\n    print('done')"


def _block(header: str, source: str) -> str:
    return f"{header}:\n{_indented(source.rstrip())}"


def _indented(source: str) -> str:
    return "\n".join(_UNIT + line if line.strip() else line for line in source.split("\n"))
