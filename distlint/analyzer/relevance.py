"""Which statements can decide what a rank does: the rest is passed over without being run.

A statement is kept when it may issue a collective or leave a block, or when it writes a name that a
kept statement, or a condition around one, reads. Names stand for variables and attributes alike,
over all modules that a file can reach; that errs on the side of keeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from distlint.analyzer import ir
from distlint.analyzer.hooks import sets_stop_flag
from distlint.analyzer.project import Module

Names = frozenset[str]

EFFECTS = frozenset(
    "seed manual_seed manual_seed_all seed_everything set_seed exit _exit quit abort signal spawn"
    " start_processes Process setattr exec super run add_argument".split()
)
"""Calls that change what is known without an assignment: seeds, exits, handlers, entry points."""

HARMLESS = frozenset(
    "print info debug warning warn error len range enumerate zip isinstance str int float bool min"
    " max abs round time perf_counter monotonic random format join append items keys values get"
    " split strip lower upper startswith endswith get_rank get_world_size is_initialized getLogger"
    " arange device empty empty_like full ones ones_like tensor zeros zeros_like".split()
)
"""Calls that do not fail on one rank alone."""

MODEL_NAMES = ("model", "net", "ddp", "engine", "module", "actor", "critic", "unet")


class Facts(Protocol):
    """What is known about names."""

    def is_event(self, module: Module, name: str) -> bool: ...

    def may_matter(self, module: Module, name: str) -> bool: ...

    def wraps(self, name: str) -> bool: ...


@dataclass(slots=True)
class Leaf:
    """A statement without a body: what it writes, and what is read once it is kept."""

    writes: Names
    reads: Names


@dataclass(slots=True)
class Outline:
    """The leaves of a module, and what is read whatever happens."""

    needed: set[str] = field(default_factory=set)
    leaves: list[Leaf] = field(default_factory=list)
    always: set[ir.Stmt] = field(default_factory=set)
    sketch: Sketch | None = None

    @property
    def risky(self) -> set[ir.Stmt]:
        return self.sketch.risky if self.sketch else set()

    @property
    def known(self) -> set[ir.Stmt]:
        return self.sketch.known if self.sketch else set()


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement, or the value of a return: kept if ``forced``, or for one of its names."""

    node: ir.Stmt
    forced: bool
    names: Names
    """Attributes that it reads and functions that it calls."""
    called: Names
    methods: Names
    reads: Names
    writes: Names
    returns: str = ""
    """The function whose value this is; the statement itself is kept anyway."""


@dataclass(slots=True)
class Sketch:
    """What the text of a module tells, whatever its names mean; made once for all catalogues."""

    needed: set[str] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)
    always: set[ir.Stmt] = field(default_factory=set)
    risky: set[ir.Stmt] = field(default_factory=set)
    known: set[ir.Stmt] = field(default_factory=set)
    """Every statement of the module: one that was made up to call a root is none of them."""
    assigned: list[tuple[Names, Names]] = field(default_factory=list)
    """What each assignment writes, with all the names of its value."""


def sketch(module: Module, is_external: Callable[[Module, ir.Expr], bool]) -> Sketch:
    """What the statements of a module write and read."""
    found = _Sketcher(module, is_external)
    found.block(module.body, frozenset(), "")
    for function in module.functions:
        found.function(function)
    return found.result


def outline(module: Module, drawn: Sketch, facts: Facts) -> Outline:
    """Which statements of a module are kept under a catalogue."""
    result = Outline(set(drawn.needed), always=set(drawn.always), sketch=drawn)
    wrapped: set[str] = set()
    for writes, names in drawn.assigned:
        if not writes <= wrapped and any(map(facts.wraps, names)):
            wrapped |= writes
    telling: dict[str, bool] = {}

    def tells(entry: Entry) -> bool:
        if entry.forced or not entry.methods.isdisjoint(wrapped):
            return True
        for name in entry.names:
            found = telling.get(name)
            if found is None:
                found = telling[name] = facts.is_event(module, name)
            if found:
                return True
        for name in entry.called:
            found = telling.get(f"{name}()")
            if found is None:
                found = telling[f"{name}()"] = facts.may_matter(module, name)
            if found:
                return True
        return False

    for entry in drawn.entries:
        if entry.returns:
            result.leaves.append(Leaf(frozenset({entry.returns}), entry.reads))
            if tells(entry):
                result.needed |= entry.reads
        elif tells(entry):
            result.always.add(entry.node)
            result.needed |= entry.reads
        elif entry.writes:
            result.leaves.append(Leaf(entry.writes, entry.reads))
    return result


def needed_names(outlines: Iterable[Outline]) -> Names:
    """The names that can decide anything: what is read anyway, and what flows into it."""
    outlines = list(outlines)
    needed: set[str] = set().union(*(found.needed for found in outlines)) if outlines else set()
    leaves = [leaf for found in outlines for leaf in found.leaves if not leaf.reads <= needed]
    while True:
        rest = []
        for leaf in leaves:
            if leaf.writes.isdisjoint(needed):
                rest.append(leaf)
            else:
                needed |= leaf.reads
        if len(rest) == len(leaves):
            return frozenset(needed)
        leaves = rest


class _Sketcher:
    def __init__(self, module: Module, is_external: Callable[[Module, ir.Expr], bool]) -> None:
        self.module = module
        self.is_external = is_external
        self.result = Sketch()

    def function(self, function: ir.Function) -> None:
        for decorator in function.decorators:
            self.result.needed |= ir.tokens_of(decorator)
        self.block(function.body, frozenset(), function.name)

    def block(self, block: ir.Block, around: Names, owner: str) -> None:
        for statement in block:
            self.statement(statement, around, owner)

    def statement(self, node: ir.Stmt, around: Names, owner: str) -> None:
        self.result.known.add(node)
        if isinstance(node, (ir.If, ir.While)):
            tokens = self.leaf(node, node.test, frozenset(), around)
            self.block(node.body, around | tokens, owner)
            self.block(node.orelse, around | tokens, owner)
        elif isinstance(node, ir.For):
            tokens = self.leaf(node, node.iterable, written(node.target), around)
            self.block(node.body, around | tokens, owner)
            self.block(node.orelse, around | tokens, owner)
        elif isinstance(node, ir.With):
            self.keep(node, around | ir.tokens_of(node.context))
            self.block(node.body, around, owner)
        elif isinstance(node, ir.Try):
            self.block(node.body, around, owner)
            self.block(node.orelse, around, owner)
            self.block(node.final, around, owner)
            for handler in node.handlers:
                self.block(handler.body, around, owner)
        elif isinstance(node, ir.Assign):
            writes: Names = frozenset().union(*(written(target) for target in node.targets))
            tokens = self.leaf(node, node.value, writes, around)
            self.result.assigned.append((writes, tokens))
        elif isinstance(node, ir.AugAssign):
            self.leaf(node, node.value, written(node.target), around)
        elif isinstance(node, ir.Evaluate):
            self.leaf(node, node.value, frozenset(), around)
        elif isinstance(node, ir.Return):
            self.keep(node, around)
            if node.value is not None:
                # the value is asked for where the function's name is
                entry, _ = self.entry(node, node.value, frozenset(), frozenset(), owner)
                self.result.entries.append(entry)
        elif isinstance(node, (ir.Break, ir.Continue, ir.Raise, ir.Assert)):
            self.keep(node, around | ir.tokens_of(node))
        else:
            self.keep(node, frozenset())

    def keep(self, node: ir.Stmt, reads: Names) -> None:
        self.result.always.add(node)
        self.result.needed |= reads

    def leaf(self, node: ir.Stmt, value: ir.Expr, writes: Names, around: Names) -> Names:
        """A statement that is kept for what its expression does, or for what it writes."""
        entry, calls = self.entry(node, value, writes, around)
        self.result.entries.append(entry)
        if calls:
            self.result.risky.add(node)
        return ir.tokens_of(value)

    def entry(
        self, node: ir.Stmt, value: ir.Expr, writes: Names, around: Names, returns: str = ""
    ) -> tuple[Entry, bool]:
        """What an expression names and calls; may it fail on one rank alone?"""
        names: set[str] = set()
        called: set[str] = set()
        methods: set[str] = set()
        forced = not returns and sets_stop_flag(node)
        calls = False
        stack: list[tuple[Any, bool]] = [(value, True)]
        while stack:
            item, counts = stack.pop()
            kind = type(item)
            if kind is ir.Yield or kind is ir.Walrus:
                forced = forced or counts
            elif kind is ir.Attribute:
                if counts:
                    names.add(item.attr)
            elif kind is ir.Call:
                name = ir.last_name(item.func)
                calls = calls or name not in HARMLESS
                if counts:
                    forced = self.callee(item.func, names, called, methods) or forced
            elif kind is ir.Lambda:
                counts = False
            stack.extend([(child, counts) for child in ir.children(item)])
        reads = around | ir.tokens_of(value)
        found = (frozenset(names), frozenset(called), frozenset(methods))
        return Entry(node, forced, *found, reads, writes, returns), calls

    def callee(self, func: ir.Expr, names: set[str], called: set[str], methods: set[str]) -> bool:
        """Note what is called; True if the call is kept whatever its name means."""
        name = ir.last_name(func)
        name = self.module.aliases.get(name, name)
        names.add(name)
        called.add(name)
        if name in EFFECTS:
            return True
        if isinstance(func, ir.Name):
            # a variable that is called may hold a wrapped model
            definitions = self.module.definitions.get(func.id, ())
            if any(isinstance(definition.node, ir.Expr) for definition in definitions):
                return True
            return not definitions and not self.is_external(self.module, func)
        if isinstance(func, ir.Attribute):
            methods.add(name)
            return name.lower().endswith(MODEL_NAMES) or name.endswith("_") or name in _MUTATORS
        return not isinstance(func, ir.Lambda)


_MUTATORS = frozenset("append extend insert remove pop clear update add setdefault set put".split())


def written(target: ir.Expr) -> Names:
    """The names of variables and attributes that an assignment changes."""
    if isinstance(target, ir.Name):
        return frozenset({target.id})
    if isinstance(target, ir.Attribute):
        return frozenset({target.attr})
    if isinstance(target, (ir.Subscript, ir.Starred)):
        return written(target.value)
    if isinstance(target, ir.Display):
        return frozenset().union(*(written(item) for item in target.items))
    return frozenset()


RUN, PASS, PASS_RISKY = "run", "pass", "pass risky"
"""What to do with a statement; one that is passed over may still be where a rank fails."""


class Relevance:
    """The verdict on each statement of the modules that a file reaches."""

    def __init__(self, outlines: dict[str, Outline]) -> None:
        self.outlines = outlines
        self.names = needed_names(outlines.values())
        self._known: dict[ir.Stmt, str] = {}

    def of(self, module: Module, statement: ir.Stmt) -> str:
        verdict = self._known.get(statement)
        if verdict is None:
            found = self.outlines.get(module.key)
            verdict = RUN if found is None else self._judge(found, statement)
            self._known[statement] = verdict
        return verdict

    def _judge(self, found: Outline, node: ir.Stmt) -> str:
        risky = PASS_RISKY if node in found.risky else PASS
        if node in found.always or node not in found.known:
            return RUN
        if isinstance(node, (ir.Assign, ir.AugAssign)):
            targets = node.targets if isinstance(node, ir.Assign) else (node.target,)
            kept = any(not written(target).isdisjoint(self.names) for target in targets)
            return RUN if kept else risky
        if isinstance(node, ir.Evaluate):
            return risky
        if isinstance(node, (ir.If, ir.For, ir.While)):
            if isinstance(node, ir.For) and not written(node.target).isdisjoint(self.names):
                return RUN
            inner = {self._known_in(found, child) for child in (*node.body, *node.orelse)}
            if RUN in inner or isinstance(node, ir.While):
                return RUN
            return PASS_RISKY if PASS_RISKY in inner else risky
        return RUN

    def _known_in(self, found: Outline, node: ir.Stmt) -> str:
        verdict = self._known.get(node)
        if verdict is None:
            verdict = self._known[node] = self._judge(found, node)
        return verdict
