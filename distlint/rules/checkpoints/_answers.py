"""What comes from the network and is written to a file: ``file.write(urlopen(url).read())``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.checkpoints._written_text import Written, modes_of

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.reaching_definitions import Point

_ASKS = frozenset(
    {
        "urllib.request.urlopen", "requests.get", "requests.post", "requests.request",
        "requests.Session", "requests.session", "httpx.get", "httpx.stream", "httpx.Client",
    }
)  # fmt: skip
"""Functions that return the answer of a server, and classes whose objects ask it."""
ASK_NAMES = frozenset({"urlopen", "requests", "httpx"})
"""Words of a file that may call them."""
_COPIES = "shutil.copyfileobj"
_TO_PATH = frozenset({"write_bytes", "write_text"})
WRITE_NAMES = _TO_PATH | {"write", "copyfileobj"}
_DEPTH = 3
"""How many assignments are followed from what is written to the answer."""


def answer_file(guards: Guards, site: CallSite) -> ir.Expr | None:
    """The file, or its path, that a call writes an answer to."""
    if site.name not in WRITE_NAMES or not site.call.args:
        return None
    func = site.call.func
    file = func.value if isinstance(func, ir.Attribute) else None
    if site.name == "copyfileobj":
        is_known = guards.objects.called(site) == _COPIES
        file = guards.objects.argument(site, "fdst", 1).value if is_known else None
    if file is None or not _is_answer(guards, site.call.args[0].value, site.point, _DEPTH):
        return None
    if site.name in _TO_PATH:
        return file
    modes = list(modes_of(guards, Written(file, site.point)))
    return file if modes and all("w" in mode for mode in modes) else None


def _is_answer(guards: Guards, node: ir.Expr, point: Point, depth: int) -> bool:
    """Is it what a server answers, or what a variable keeps of it?"""
    for item in expressions_in(node):
        if isinstance(item, ir.Call) and guards.objects.called(CallSite(item, point)) in _ASKS:
            return True
        if depth and isinstance(item, ir.Name):
            for value, where in guards.assignments.reaching(item, point):
                if _is_answer(guards, value, where, depth - 1):
                    return True
    return False
