"""Text and bytes that a call writes to a file: ``file.write(json.dumps(state))``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import expressions_in
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.catalogue.entries import Write, position

if TYPE_CHECKING:
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.objects import Objects

_SERIALIZERS = frozenset(
    {"json.dumps", "pickle.dumps", "yaml.dump", "yaml.safe_dump", "orjson.dumps", "ujson.dumps"}
)
"""Functions that return what an object is saved as."""
_TO_FILE = frozenset({"write", "writelines"})
_TO_PATH = frozenset({"write_text", "write_bytes"})
TEXT_NAMES = _TO_FILE | _TO_PATH | {"print"}
"""Last names of the calls that write text."""
_MODE = re.compile(r"[rwxabtU+]{1,4}")
_WRITING = frozenset("wx")
"""Letters of the modes in which a file is written from its start."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file, or its path, and where this stands; ``opened`` are the calls that open it."""

    file: ir.Expr
    point: Point
    opened: frozenset[ir.Call] = frozenset()


def written_file(guards: Guards, site: CallSite) -> Written | None:
    """The file, or its path, that a call writes an object or a text to.

    Of several texts for one file, the first one counts; a constant is the same from each rank.
    """
    written = _file_of(guards, site)
    is_object = _holds_object(guards, site)
    if written is None or not (is_object or _is_made(site)):
        return None
    if site.name in _TO_PATH:
        return written
    if not written.opened or not all(
        not _WRITING.isdisjoint(mode) for mode in modes_of(guards, written)
    ):
        return None
    return written if is_object or _is_first(guards, written, site) else None


def _file_of(guards: Guards, site: CallSite) -> Written | None:
    func, objects = site.call.func, guards.objects
    if site.name == "print":
        file = objects.argument(site, "file").value
    else:
        file = func.value if isinstance(func, ir.Attribute) else None
    if file is None:
        return None
    for origin in objects.origins(file, site.point):
        row = objects.catalogue.writes.of(objects.called(origin.site)) if origin.site else None
        if row is not None and origin.site is not None and site.name in row.by:
            return _file_of_writer(objects, row, origin.site)
    return _opened(objects, file, site.point) if site.name in TEXT_NAMES else None


def _opened(objects: Objects, file: ir.Expr, point: Point) -> Written:
    found = (origin.site for origin in objects.origins(file, point))
    opened = frozenset(each.call for each in found if each is not None and each.name == "open")
    return Written(file, point, opened)


def _file_of_writer(objects: Objects, row: Write, made: CallSite) -> Written | None:
    """The file of an object whose methods write: ``csv.writer(file)``."""
    file = given_path(objects, row, made)
    if file is None:
        return None
    written = _opened(objects, file, made.point)
    is_path = not row.opened and not written.opened
    return Written(file, made.point, frozenset({made.call})) if is_path else written


def given_path(objects: Objects, row: Write, site: CallSite) -> ir.Expr | None:
    """The path, or the open file, that a call is given to write to, if its mode says so."""
    if not {each.keyword for each in site.call.args}.isdisjoint(row.not_given):
        return None
    if row.mode:
        passed = objects.argument(site, row.mode, position(row.params, row.mode))
        mode = objects.constant(passed, site.point, "")
        if not isinstance(mode, str) or _WRITING.isdisjoint(mode):
            return None
    return objects.argument(site, row.path, position(row.params, row.path)).value


def _is_made(site: CallSite) -> bool:
    """Is there more in a text than constants? A header of columns has no argument."""
    return not site.call.args or any(
        not isinstance(part, (ir.Literal, ir.Format, ir.Display))
        for each in site.call.args
        if each.keyword != "file"
        for part in expressions_in(each.value)
    )


def _is_first(guards: Guards, written: Written, site: CallSite) -> bool:
    """Is it the first call that writes to the file, and no object is written there?"""
    for other in guards.objects.calls(
        TEXT_NAMES | guards.objects.catalogue.writes.names_of_writers
    ):
        into = _file_of(guards, other) if other.name not in _TO_PATH else None
        if into is not None and not written.opened.isdisjoint(into.opened):
            is_before = other.call.site < site.call.site and _is_made(other)
            if is_before or _holds_object(guards, other):
                return False
    return True


def modes_of(guards: Guards, written: Written) -> Iterator[str]:
    """The modes that a file may be opened with, ``""`` for one that is not known."""
    for origin in guards.objects.origins(written.file, written.point):
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
