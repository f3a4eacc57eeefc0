"""Text and bytes that a call writes to a file: ``file.write(json.dumps(state))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.sites import CallSite

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards

_SERIALIZERS = frozenset(
    {"json.dumps", "pickle.dumps", "yaml.dump", "yaml.safe_dump", "orjson.dumps", "ujson.dumps"}
)
"""Functions that return what an object is saved as."""
SERIALIZER_NAMES = frozenset(name.rpartition(".")[2] for name in _SERIALIZERS)
_TO_FILE = frozenset({"write", "writelines"})
_TO_PATH = frozenset({"write_text", "write_bytes"})
TEXT_NAMES = _TO_FILE | _TO_PATH | {"print"}
"""Last names of the calls that write text."""
_MODE = re.compile(r"[rwxabtU+]{1,4}")


def written_file(guards: Guards, site: CallSite) -> ir.Expr | None:
    """The file, or its path, that a call writes a serialized object to."""
    if site.name not in TEXT_NAMES or not _holds_object(guards, site):
        return None
    func = site.call.func
    if site.name == "print":
        file = guards.objects.argument(site, "file").value
    else:
        file = func.value if isinstance(func, ir.Attribute) else None
    if file is None or site.name in _TO_PATH:
        return file
    modes = list(modes_of(guards, file, site))
    return file if modes and all("w" in mode or "x" in mode for mode in modes) else None


def modes_of(guards: Guards, file: ir.Expr, site: CallSite) -> Iterator[str]:
    """The modes that a file may be opened with, ``""`` for one that is not known."""
    for origin in guards.objects.origins(file, site.point):
        opened = origin.site
        if opened is not None and opened.name == "open":
            yield _mode(guards, opened)


def _mode(guards: Guards, opened: CallSite) -> str:
    passed = guards.objects.argument(opened, "mode", 1)
    mode = guards.objects.constant(passed, opened.point)
    if isinstance(opened.call.func, ir.Attribute) and mode is None:  # Path(...).open("w")
        mode = guards.objects.constant(guards.objects.argument(opened, "mode", 0), opened.point)
        mode = mode if isinstance(mode, str) and _MODE.fullmatch(mode) else "r"
    return mode if isinstance(mode, str) else "r" if mode is None else ""


def _holds_object(guards: Guards, site: CallSite) -> bool:
    """Is a serialized object in what a call is given, or in a variable that it is given?"""
    given = [(each.value, site.point) for each in site.call.args if each.keyword != "file"]
    for value, _ in list(given):
        for item in expressions_in(value):
            if isinstance(item, ir.Name):
                given += guards.assignments.reaching(item, site.point)
    return any(
        isinstance(item, ir.Call) and guards.objects.called(CallSite(item, point)) in _SERIALIZERS
        for value, point in given
        for item in expressions_in(value)
    )
