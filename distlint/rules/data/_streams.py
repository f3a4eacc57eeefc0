"""Streams that a loader reads: the classes that read, and streams of Hugging Face Datasets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from distlint.analyzer import ir
from distlint.analyzer.static.across import Place, origins_across
from distlint.analyzer.static.callers import called_elsewhere
from distlint.analyzer.static.inheritance import bases_elsewhere, imported_class
from distlint.analyzer.static.names import calls_of, expressions_in, placed
from distlint.analyzer.static.objects.objects import Objects
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.rules.data._differences import difference
from distlint.rules.training import Made

_STREAM = "torch.utils.data.IterableDataset"
_DEPTH = 8
"""Through how many calls a stream is followed, and through how many classes that wrap one."""
_MAKES = frozenset({"to_iterable_dataset"})
_JOINS = frozenset({"interleave_datasets", "concatenate_datasets"})
_KEEPS = frozenset(
    {
        "shuffle", "map", "filter", "with_format", "take", "skip", "remove_columns",
        "select_columns", "rename_column", "rename_columns", "cast", "cast_column", "batch",
        "repeat",
    }
)  # fmt: skip
"""Methods of streams whose values hold the same samples, or some of them."""
_ANOTHER = re.compile(r"dataset|(?:^|_)ds$|stream|source|loader|iterable|iterator|(?:^|_)iter$")
"""Attributes of a stream that are another one, which may be divided itself."""
_BY_RANK = re.compile(r"rank|process_index|world|num_replicas")


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream of classes of the project, the one that reads last; ``made`` makes the first."""

    made: CallSite
    objects: Objects
    classes: tuple[ir.Class, ...]
    tokens: frozenset[str]
    """Of what the classes and the functions that they call are made of."""

    @property
    def reader(self) -> ir.Class:
        return self.classes[-1]


def goes_through_another(cls: ir.Class) -> bool:
    """Does a class go through a stream or a data set that it is given?"""
    body = cls.methods["__iter__"].body
    iterated = [each.iterable for each, _ in placed(body) if isinstance(each, ir.For)]
    iterated += [
        call.args[0].value
        for each, _ in placed(body)
        for call in calls_of(each)
        if ir.last_name(call.func) == "iter" and call.args
    ]
    return any(
        isinstance(node, ir.Attribute) and _ANOTHER.search(node.attr.lower())
        for iterable in iterated
        for node in expressions_in(iterable)
    )


def streams_of(loader: Made) -> Iterator[tuple[Objects, Stream]]:
    """The streams that a loader may read, and the files that make them."""
    for objects, origin in loader.places("dataset"):
        if origin.site is None:
            continue
        there = _class_of(objects, origin.site)
        if there is None or not _is_stream(*there):
            continue
        chain = [there, *_sources(objects, origin.site, _DEPTH)]
        tokens = frozenset[str]().union(*(_tokens(*each) for each in chain))
        classes = tuple(cls for _, cls in chain)
        yield objects, Stream(origin.site, there[0], classes, tokens)


def _class_of(objects: Objects, site: CallSite) -> tuple[Objects, ir.Class] | None:
    cls = objects.callee(site)
    if isinstance(cls, ir.Class):
        return objects, cls
    return imported_class(objects, site.call.func) if cls is None else None


def _is_stream(objects: Objects, cls: ir.Class) -> bool:
    return "__iter__" in cls.methods and cls in set(objects.classes.subclasses_of(_STREAM))


def _sources(objects: Objects, site: CallSite, depth: int) -> Iterator[tuple[Objects, ir.Class]]:
    """The classes of what a stream is made to go through."""
    for argument in site.call.args if depth else ():
        for where, origin in origins_across(objects, argument.value, site.point):
            there = _class_of(where, origin.site) if origin.site is not None else None
            if there is not None and origin.site is not None and "__iter__" in there[1].methods:
                yield there
                yield from _sources(where, origin.site, depth - 1)


def _tokens(objects: Objects, cls: ir.Class) -> frozenset[str]:
    """What a class, its bases and the functions that it calls are made of."""
    found: set[str] = set()
    bases = [(objects, each) for each in objects.classes.with_bases(cls)]
    for where, each in (*bases, *bases_elsewhere(objects, cls)):
        for method in each.methods.values():
            found |= method.tokens
            scope = where.scope_of(method)
            for site in where.calls_in(scope, set(where.called_names)) if scope else ():
                called = where.callee(site)
                there = called_elsewhere(where.module, site.call.func)
                function = there[1] if there is not None else called
                if isinstance(function, ir.Function):
                    found |= function.tokens
    return frozenset(found)


def streamed(loader: Made) -> CallSite | None:
    """The call that loads a stream of Hugging Face Datasets which all ranks read as a whole."""
    for place in loader.places("dataset"):
        found = _loaded(place, _DEPTH)
        if found is not None:
            return found
    return None


def _loaded(place: Place, depth: int) -> CallSite | None:
    objects, origin = place
    node = origin.node
    if isinstance(node, ir.Subscript) and depth:
        return _loaded_in(objects, node.value, origin, depth)
    if not isinstance(node, ir.Call) or not depth or origin.attributes:
        return None
    site = CallSite(node, origin.point)
    if _is_by_rank(objects, site):
        return None
    if site.name == "load_dataset" and "datasets" in objects.module.imported_roots:
        streaming = objects.constant(objects.argument(site, "streaming"), site.point, False)
        return site if streaming is True else None
    if site.name in _MAKES:
        return site
    if site.name in _JOINS and node.args and isinstance(node.args[0].value, ir.Display):
        for each in node.args[0].value.items:
            found = _loaded_in(objects, each, origin, depth)
            if found is not None:
                return found
    if site.name in _KEEPS and isinstance(node.func, ir.Attribute):
        return _loaded_in(objects, node.func.value, origin, depth)
    return None


def _loaded_in(objects: Objects, node: ir.Expr, origin: Origin, depth: int) -> CallSite | None:
    for place in origins_across(objects, node, origin.point):
        if place[1].node is not origin.node:
            found = _loaded(place, depth - 1)
            if found is not None:
                return found
    return None


def _is_by_rank(objects: Objects, site: CallSite) -> bool:
    """May what a call is given depend on the rank?"""
    return any(
        any(_BY_RANK.search(token.lower()) for token in ir.tokens_of(argument.value))
        or difference(objects, argument.value, site.point) is not None
        for argument in site.call.args
    )
