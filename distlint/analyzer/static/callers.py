"""The calls of a function in its file and in others of the project, by names and by objects.

A function is known to a file by an import, also through packages that hand it on. A method is
called on the objects that a file makes of the class, or of a class that derives from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path as File

from distlint.analyzer import ir
from distlint.analyzer.project.module import Imported, Module
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of

_GENERIC = frozenset({"save", "load", "step", "update", "run", "forward", "close", "write", "add"})
"""Names of methods that objects of any class may have."""
_MOST_NAMES = 64
"""Places that are looked at for one function, at most."""

Known = tuple[Module, Path]
"""A file, and what it calls something of another file: ``lib.save``."""


def objects_in(module: Module) -> Objects:
    """The objects of a module of the project, by what the catalogue says about it."""
    assert module.project is not None
    return objects_of(module, module.project.catalogue_of(module))


def calls_within(objects: Objects, function: ir.Function) -> Iterator[CallSite]:
    """The calls of a function within its module.

    Where none is known of a method, those by its name, unless other functions have the same one.
    """
    known = objects.callers(function)
    yield from known
    is_method = bool(function.owner) or [p.name for p in function.params[:1]] == ["self"]
    if known or not is_method or function.name in _GENERIC:
        return
    if [each.name for each in objects.module.functions].count(function.name) == 1:
        above = {id(site.call) for site in objects.classes.super_calls(function)}
        for site in objects.calls({function.name}):
            if isinstance(site.call.func, ir.Attribute) and id(site.call) not in above:
                yield site


def calls_elsewhere(module: Module, function: ir.Function) -> Iterator[tuple[Module, CallSite]]:
    """The calls of a function of a module in the other files of its project."""
    if module.project is None or function.nested:
        return
    if not function.owner:
        for known in known_as(module, function.name):
            for site in _called(known):
                yield known[0], site
        return
    if module.class_of(function) is None:
        return
    for cls, known in _classes(module, function):
        yield from _calls_on(cls, known, function)


def overrides_elsewhere(
    module: Module, method: ir.Function
) -> Iterator[tuple[Module, ir.Function]]:
    """The methods of classes in other files that stand in for a method of a module."""
    if module.project is None or module.class_of(method) is None:
        return
    for cls, (where, _) in _classes(module, method):
        own = cls.methods.get(method.name) if cls is not None else None
        if own is not None and own is not method and where is not module:
            yield where, own


def called_elsewhere(module: Module, func: ir.Expr) -> tuple[Module, ir.Function] | None:
    """The function of another file that a call calls, or the ``__init__`` of a class there."""
    name, *members = path_of(func) or ("",)
    there = module.lead_to(name, *members)
    if there is None:
        return None
    where, node = there
    if isinstance(node, ir.Class):
        return where.constructor(node)
    return (where, node) if isinstance(node, ir.Function) else None


def known_as(module: Module, name: str) -> Iterator[Known]:
    """The other files that know a name of a module, and what it is called there."""
    waiting = [(module, name)]
    for owner, wanted in waiting:  # grows meanwhile
        for importer in owner.importers(wanted):
            for known in dict.fromkeys(_paths(importer, owner, wanted)):
                yield importer, known
                handed_on = (importer, known[0])
                is_bound = len(known) == 1 and (
                    known[0] in importer.definitions or importer.star_imports
                )
                if is_bound and handed_on not in waiting and len(waiting) < _MOST_NAMES:
                    waiting.append(handed_on)


def users_of(module: Module, name: str) -> dict[Module, None]:
    """The other files that know a name of a module, or a function of another one that names it."""
    found: dict[Module, None] = {}
    for user, path in list(known_as(module, name)) if module.project is not None else ():
        found[user] = None
        for function in user.functions:
            if path[-1] in function.tokens and not (function.owner or function.nested):
                found.update((each, None) for each, _ in known_as(user, function.name))
    return found


def _paths(importer: Module, owner: Module, wanted: str) -> Iterator[Path]:
    """What the imports of a file make of a name of another one."""
    project = importer.project
    assert project is not None
    for statement in importer.import_statements:
        for local, dotted, attr in statement.bindings:
            found = project.find(dotted, importer.path)
            if found is None:  # perhaps a folder without an ``__init__``
                joined = f"{dotted}{'' if dotted.endswith('.') else '.'}{attr}"
                if attr is not None and project.find(joined, importer.path) == owner.path:
                    yield local, wanted
            elif attr is None:
                below = _below(found, owner.path)
                if below is not None:
                    yield (local, *below, wanted)
            elif found == owner.path and attr in (wanted, "*"):
                yield (wanted if attr == "*" else local,)
            elif project.submodule(found, attr) == owner.path:
                yield local, wanted


def _below(package: File, file: File) -> Path | None:
    """The names by which a file is reached from a package that is imported; () if it is that."""
    if package == file:
        return ()
    if package.name != "__init__.py" or package.parent not in file.parents:
        return None
    parts = file.with_suffix("").relative_to(package.parent).parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _called(known: Known) -> Iterator[CallSite]:
    """The calls in a file of what it knows under a name."""
    module, path = known
    objects = objects_in(module)
    for site in objects.calls({path[-1]}):
        if path_of(site.call.func) == path and is_seen(objects, path, site.point):
            yield site


def is_seen(objects: Objects, path: Path, point: Point) -> bool:
    """Does the first name of a path stand for an import there, and not for a variable?"""
    scope = point.scope
    while scope.function is not None:
        if path[0] in scope.function.locals:
            return path[0] in scope.imports
        if scope.outer is None:
            return False
        scope = scope.outer
    definitions = objects.module.definitions.get(path[0])
    if definitions is None:
        return bool(objects.module.star_imports)
    return any(isinstance(each.node, (Imported, ir.Class)) for each in definitions)


def derived_elsewhere(module: Module, cls: ir.Class) -> Iterator[tuple[Module, ir.Class]]:
    """The classes in other files of the project that derive from one of a module."""
    if module.project is None:
        return
    for found, (where, _) in _derived(module, cls.name):
        if found is not None and where is not module:
            yield where, found


def _classes(module: Module, method: ir.Function) -> Iterator[tuple[ir.Class | None, Known]]:
    """The files that know the class of a method, or one that derives from it, and its name there.

    With the class itself, where the file defines it; not one that has a method of its own.
    """
    for cls, known in _derived(module, method.owner):
        if cls is None or known[0] is not module or cls.methods.get(method.name) is not method:
            yield cls, known


def _derived(module: Module, name: str) -> Iterator[tuple[ir.Class | None, Known]]:
    """A class of a module and those that derive from it, of whatever files, and their names there.

    Without a class where a file only knows one by the name.
    """
    waiting: list[Known] = [(module, (name,))]
    for known in waiting:  # grows meanwhile
        where, path = known
        cls = where.classes.get(path[0]) if len(path) == 1 else None
        yield cls, known
        found: list[Known] = []
        if cls is not None:
            found += known_as(where, path[0])
        found += [
            (where, (below,))
            for below, other in where.classes.items()
            if any(path_of(base) == path for base in other.bases)
        ]
        for each in found:
            if each not in waiting and len(waiting) < _MOST_NAMES:
                waiting.append(each)


def _calls_on(
    cls: ir.Class | None, known: Known, method: ir.Function
) -> Iterator[tuple[Module, CallSite]]:
    """The calls of a method in a file that knows its class, or derives one from it."""
    module = known[0]
    objects = objects_in(module)
    own = cls.methods.get(method.name) if cls is not None else None
    if own is not None and own is not method:
        for site in objects.classes.super_calls(own):
            yield module, site
        return
    made = list(_called(known))
    if method.name == "__init__":
        for site in made:
            yield module, site
        return
    calls = {site.call for site in made}
    if method.name == "__call__" and calls:
        for call, point in objects.nodes(ir.Call):
            if any(origin.call in calls for origin in objects.origins(call.func, point)):
                yield module, CallSite(call, point)
    for site in objects.calls({method.name}):
        if _is_on(objects, site, known, cls, calls):
            yield module, site


def _is_on(
    objects: Objects, site: CallSite, known: Known, cls: ir.Class | None, made: Set[ir.Call]
) -> bool:
    """Is a method called on the class, on one of the objects made of it, or on ``self`` in it?"""
    if not isinstance(site.call.func, ir.Attribute):
        return False
    receiver, path = site.call.func.value, path_of(site.call.func.value)
    function = site.point.scope.function
    if path == ("self",):
        return cls is not None and function is not None and function.owner == cls.name
    if path == known[1]:
        return is_seen(objects, path, site.point)
    return bool(made) and any(o.call in made for o in objects.origins(receiver, site.point))
