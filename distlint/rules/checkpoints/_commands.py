"""Commands of a shell by which a script deletes files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir

if TYPE_CHECKING:
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite

_RUNS = frozenset(
    {"os.system", "os.popen"}
    | {f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")}
)
RUN_NAMES = frozenset(name.rpartition(".")[2] for name in _RUNS)
_RAISING = frozenset({"subprocess.check_call", "subprocess.check_output"})
_DELETES = re.compile(r"\s*(?:sudo\s+)?(rm|rmdir|unlink)\s")
_FORCES = re.compile(r"\s-\w*f|--force")


@dataclass(frozen=True, slots=True)
class Command:
    """A command that deletes files; does it fail for one that is missing?"""

    program: str
    words: ir.Expr
    fails: bool


def deleting(objects: Objects, site: CallSite) -> Command | None:
    """The command that a call runs, if that deletes files."""
    called = objects.called(site)
    given = objects.argument(site, "args", 0).value if called in _RUNS else None
    made = objects.origins(given, site.point) if given is not None else ()
    if len(made) != 1 or not isinstance(made[0].node, ir.Expr):
        return None
    words = made[0].node
    text = _text(words)
    found = _DELETES.match(text)
    if found is None:
        return None
    checks = objects.constant(objects.argument(site, "check"), site.point, False) is not False
    fails = (called in _RAISING or checks) and not _FORCES.search(text)
    return Command(found[1], words, fails)


def _text(words: ir.Expr) -> str:
    """What is written down of a command, from its beginning."""
    if isinstance(words, ir.Display):
        return " ".join(map(_text, words.items))
    if isinstance(words, ir.Format):
        return "".join(map(_text, words.parts))
    if isinstance(words, ir.Binary):
        return _text(words.left)
    if isinstance(words, ir.Call) and isinstance(words.func, ir.Attribute):
        return _text(words.func.value) if words.func.attr == "format" else "?"
    value = words.value if isinstance(words, ir.Literal) else None
    return value if isinstance(value, str) else "?"
