"""The IR that comes from ``ast`` is the one that comes from libcst, with the same sites.

    python -m benchmarks.lowering DIR [DIR ...]

Compares the two for every ``*.py`` below the folders. Prints the differences, how many files were
compared, how many only one of the two reads, and the CPU seconds of both; 1 if there is any
difference.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distlint.analyzer.ir.errors import ParseError, TooDeep
from distlint.analyzer.ir.lower import by_ast, by_libcst
from distlint.source.document import Document, DocumentError

_SHOWN = 20


def difference(one: Any, other: Any, path: str = "") -> str | None:
    """Where two pieces of IR differ; None if nowhere."""
    waiting = [(one, other, path)]
    while waiting:
        left, right, where = waiting.pop()
        if type(left) is not type(right):
            return f"{where}: {_shown(left)} / {_shown(right)}"
        names = getattr(type(left), "__dataclass_fields__", None)
        if names is not None:
            below = ((name, getattr(left, name), getattr(right, name)) for name in names)
        elif isinstance(left, dict):
            if list(left) != list(right):
                return f"{where}: {list(left)} / {list(right)}"
            below = ((key, left[key], right[key]) for key in left)
        elif isinstance(left, (tuple, list)):
            if len(left) != len(right):
                return f"{where}: {len(left)} / {len(right)} items"
            below = (
                (str(index), *pair) for index, pair in enumerate(zip(left, right, strict=True))
            )
        else:
            if left != right:
                return f"{where}: {_shown(left)} / {_shown(right)}"
            continue
        waiting += [(a, b, f"{where}.{name}") for name, a, b in below]
    return None


def _shown(value: Any) -> str:
    return type(value).__name__ if isinstance(value, int) else f"{value!r:.200}"


def compared(text: str, seconds: Counter[str]) -> tuple[str, str]:
    """What came of a text, in a word, and the difference or why libcst refuses it."""
    begun = time.process_time()
    try:
        quick = by_ast(text)
        middle = time.process_time()
        slow = by_libcst(text)
    except TooDeep as error:
        return "not parsed", error.message
    except ParseError as error:
        return ("ast only" if quick is not None else "neither"), error.message
    if quick is None:
        return "libcst only", ""
    seconds["ast"] += middle - begun  # type: ignore[assignment]
    seconds["libcst"] += time.process_time() - middle  # type: ignore[assignment]
    found = difference(slow.body, quick.body)
    if found is None and slow.sites != quick.sites:
        found = f"{slow.sites} / {quick.sites} sites"
    return ("different", found) if found is not None else ("equal", "")


def texts(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*.py")):
        try:
            yield path, Document.read(path).text
        except (DocumentError, OSError):
            continue


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    counts: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for name in sys.argv[1:]:
        for path, text in texts(Path(name)):
            word, what = compared(text, seconds)
            counts[word] += 1
            if word in ("different", "ast only") and counts[word] <= _SHOWN:
                print(f"{path}: {word}: {what}")
    print(", ".join(f"{number} {word}" for word, number in counts.most_common()))
    print(", ".join(f"{name} {spent:.2f} CPU s" for name, spent in seconds.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
