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
_TO_FILE = frozenset({"write", "writelines"})
_TO_PATH = frozenset({"write_text", "write_bytes"})
TEXT_NAMES = _TO_FILE | _TO_PATH | {"print"}
"""Last names of the calls that write text."""
_MODE = re.compile(r"[rwxabtU+]{1,4}")


def written_file(guards: Guards, site: CallSite) -> ir.Expr | None:
    """The file, or its path, that a call writes an object or a text to.

    Of several texts for one file, the first one counts; a constant is the same from each rank.
    """
    if site.name not in TEXT_NAMES:
        return None
    file = _file_of(guards, site)
    is_object = _holds_object(guards, site)
    if file is None or not (is_object or _is_made(site)):
        return None
    if site.name in _TO_PATH:
        return file
    modes = list(modes_of(guards, file, site))
    if not modes or not all("w" in mode or "x" in mode for mode in modes):
        return None
    return file if is_object or _is_first(guards, file, site) else None


def _file_of(guards: Guards, site: CallSite) -> ir.Expr | None:
    func = site.call.func
    if site.name == "print":
        return guards.objects.argument(site, "file").value
    return func.value if isinstance(func, ir.Attribute) else None


def _is_made(site: CallSite) -> bool:
    """Is there more in a text than constants?"""
    return any(
        not isinstance(part, (ir.Literal, ir.Format))
        for each in site.call.args
        if each.keyword != "file"
        for part in expressions_in(each.value)
    )


def _is_first(guards: Guards, file: ir.Expr, site: CallSite) -> bool:
    """Is it the first call that writes to the file, and no object is written there?"""
    opened = {origin.call for origin in guards.objects.origins(file, site.point)}
    for other in guards.objects.calls(TEXT_NAMES):
        into = _file_of(guards, other) if other.name not in _TO_PATH else None
        origins = guards.objects.origins(into, other.point) if into is not None else ()
        if any(each.call in opened for each in origins if each.call is not None):
            is_before = other.call.site < site.call.site and _is_made(other)
            if is_before or _holds_object(guards, other):
                return False
    return True


def modes_of(guards: Guards, file: ir.Expr, site: CallSite) -> Iterator[str]:
    """The modes that a file may be opened with, ``""`` for one that is not known."""
    for origin in guards.objects.origins(file, site.point):
        opened = origin.site
        if opened is not None and opened.name == "open":
            yield mode_of(guards, opened)


def mode_of(guards: Guards, opened: CallSite) -> str:
    """The mode in which a call opens a file, ``""`` if it is not known."""
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
