"""Which statements can decide what a rank does: the rest is skipped.

A statement is kept when it may issue a collective or leave a block, or when it writes a name that a
kept statement, or a condition around one, reads. A local variable that nothing outside of its
function can name is told apart from all others; other names stand for variables and attributes
alike, over all modules that a file can reach. That errs on the side of keeping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.static.call_names import BY_RANK, EFFECTS, HARMLESS, MODEL_NAMES, MUTATORS
from distlint.analyzer.static.data_classes import counted_attributes, parted_by_rank
from distlint.analyzer.static.hooks import sets_stop_flag
from distlint.analyzer.static.training_mode import MODE, sets_mode

Names = frozenset[str]
Keys = frozenset[Any]
"""Names, and (function, name) for the variables that are private to a function."""
NOTHING: Names = frozenset()


class Facts(Protocol):
    """What is known about names."""

    wrapping: Names
    """Functions whose calls may return a wrapped model."""

    def events_in(self, module: Module, names: Names) -> Names: ...

    def may_matter(self, module: Module, name: str) -> bool: ...

    def may_set_mode(self, module: Module, name: str) -> bool: ...

    def changed_by_methods(self, module: Module, name: str) -> Names: ...


@dataclass(slots=True)
class ProgramSlice:
    """Which statements of a module are kept, and what is read whatever happens."""

    needed: set[Any] = field(default_factory=set)
    leaves: list[Entry] = field(default_factory=list)
    """What is kept for what it writes; then what it reads is read, too."""
    always: set[ir.Stmt] = field(default_factory=set)
    modes: set[ir.Stmt] = field(default_factory=set)
    """What calls functions that have modules train or evaluate."""
    changes: dict[ir.Stmt, Names] = field(default_factory=dict)
    """What is changed by methods that are called in branches by the rank."""
    slice_candidate: SliceCandidate | None = None

    @property
    def risky(self) -> set[ir.Stmt]:
        return self.slice_candidate.risky if self.slice_candidate else set()

    @property
    def known(self) -> set[ir.Stmt]:
        return self.slice_candidate.known if self.slice_candidate else set()

    def writes(self, node: ir.Stmt) -> Keys:
        written = self.slice_candidate.written if self.slice_candidate else {}
        found = written.get(node, NOTHING) | self.changes.get(node, NOTHING)
        return found | {MODE} if node in self.modes else found


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement, or the value of a return: kept if ``forced``, or for one of its names."""

    node: ir.Stmt
    forced: bool
    names: Names
    """Attributes that it reads and functions that it calls."""
    called: Names
    methods: Names
    reads: Keys
    writes: Keys
    returns: str = ""
    """The function whose value this is; the statement itself is kept anyway."""
    alone: bool = False
    """Is it a call in an arm of a branch by the rank?"""


@dataclass(slots=True)
class SliceCandidate:
    """What the text of a module tells, whatever its names mean; made once for all catalogues."""

    needed: set[Any] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)
    names: Names = NOTHING
    """All that the entries name."""
    always: set[ir.Stmt] = field(default_factory=set)
    risky: set[ir.Stmt] = field(default_factory=set)
    known: set[ir.Stmt] = field(default_factory=set)
    """Every statement of the module: one that was made up to call a root is none of them."""
    assigned: list[tuple[Names, Names]] = field(default_factory=list)
    """What each assignment writes, with all the names of its value."""
    written: dict[ir.Stmt, Keys] = field(default_factory=dict)
    """What assignments and loops write."""
    private: dict[ir.Function, Names] = field(default_factory=dict)


def slice_candidate(
    module: Module, is_external: Callable[[Module, ir.Expr], bool]
) -> SliceCandidate:
    """What the statements of a module write and read."""
    found = _Sketcher(module, is_external)
    found.block(module.body, frozenset())
    for function in module.functions:
        found.of_function(function)
    found.result.names = NOTHING.union(*(each.names for each in found.result.entries))
    return found.result


def program_slice(module: Module, drawn: SliceCandidate, facts: Facts) -> ProgramSlice:
    """Which statements of a module are kept under a catalogue."""
    result = ProgramSlice(set(drawn.needed), always=set(drawn.always), slice_candidate=drawn)
    wrapped: set[str] = set()
    for writes, names in drawn.assigned:
        if not facts.wrapping.isdisjoint(names):
            wrapped |= writes
    events = facts.events_in(module, drawn.names)
    matter: dict[str, bool] = {}
    setting: dict[str, bool] = {}

    def sets(entry: Entry) -> bool:
        for name in entry.called - setting.keys():
            setting[name] = facts.may_set_mode(module, name)
        return any(setting[name] for name in entry.called)

    def changes(entry: Entry) -> Names:
        return NOTHING.union(*(facts.changed_by_methods(module, each) for each in entry.methods))

    def tells(entry: Entry) -> bool:
        if (
            entry.forced
            or not entry.methods.isdisjoint(wrapped)
            or not entry.names.isdisjoint(events)
        ):
            return True
        for name in entry.called:
            found = matter.get(name)
            if found is None:
                found = matter[name] = facts.may_matter(module, name)
            if found:
                return True
        return False

    for entry in drawn.entries:
        if entry.returns:
            result.leaves.append(entry)
            if tells(entry):
                result.needed |= entry.reads
        elif tells(entry):
            result.always.add(entry.node)
            result.needed |= entry.reads
        elif entry.alone and (changed := changes(entry)):
            result.changes[entry.node] = changed
            result.leaves.append(replace(entry, writes=entry.writes | changed))
        elif sets(entry):
            result.modes.add(entry.node)
            result.leaves.append(replace(entry, writes=entry.writes | {MODE}))
        elif entry.writes:
            result.leaves.append(entry)
    return result


def needed_names(slices: Iterable[ProgramSlice]) -> Keys:
    """The names that can decide anything: what is read anyway, and what flows into it."""
    slices = list(slices)
    needed: set[Any] = set().union(*(found.needed for found in slices)) if slices else set()
    leaves = [leaf for found in slices for leaf in found.leaves if not leaf.reads <= needed]
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
        self.result = SliceCandidate()
        self.sets: dict[Keys, Keys] = {}
        self.function: ir.Function | None = None
        self.private: Names = frozenset()
        self.alone = False
        """Is it in an arm of a branch by the rank?"""

    def of_function(self, function: ir.Function) -> None:
        for decorator in function.decorators:
            self.result.needed |= ir.tokens_of(decorator)
        self.function, self.private = function, _private(function)
        self.result.private[function] = self.private
        if function.name in ("__len__", "__iter__"):
            cls = self.module.classes.get(function.owner)
            if cls is not None and parted_by_rank(cls):
                self.result.needed |= counted_attributes(function)
        self.block(function.body, frozenset())

    def block(self, block: ir.Block, around: Keys) -> None:
        for statement in block:
            self.statement(statement, around)

    def statement(self, node: ir.Stmt, around: Keys) -> None:
        self.result.known.add(node)
        if isinstance(node, (ir.If, ir.While)):
            inside = around | self.leaf(node, node.test, NOTHING, around)
            alone = self.alone
            self.alone = alone or any(map(BY_RANK.search, ir.tokens_of(node.test)))
            self.block(node.body, inside)
            self.block(node.orelse, inside)
            self.alone = alone
        elif isinstance(node, ir.For):
            inside = around | self.leaf(node, node.iterable, self.keys(node.target), around)
            self.block(node.body, inside)
            self.block(node.orelse, inside)
        elif isinstance(node, ir.With):
            self.keep(node, around | self.reads(node.context))
            self.block(node.body, around)
        elif isinstance(node, ir.Try):
            self.block(node.body, around)
            self.block(node.orelse, around)
            self.block(node.final, around)
            for handler in node.handlers:
                self.block(handler.body, around)
        elif isinstance(node, ir.Assign):
            self.leaf(node, node.value, self.keys(*node.targets), around | self.held(*node.targets))
            names: Names = frozenset().union(*map(written, node.targets))
            self.result.assigned.append((names, ir.tokens_of(node.value)))
        elif isinstance(node, ir.AugAssign):
            self.leaf(node, node.value, self.keys(node.target), around | self.held(node.target))
        elif isinstance(node, ir.Evaluate):
            self.leaf(node, node.value, NOTHING, around)
        elif isinstance(node, ir.Return):
            self.keep(node, around)
            if node.value is not None:
                # the value is asked for where the function's name is
                owner = self.function.name if self.function is not None else ""
                entry, _ = self.entry(node, node.value, frozenset(), frozenset(), owner)
                self.result.entries.append(entry)
        elif isinstance(node, (ir.Break, ir.Continue, ir.Raise, ir.Assert)):
            self.keep(node, around | self.reads(node))
        else:
            self.keep(node, frozenset())

    def keep(self, node: ir.Stmt, reads: Keys) -> None:
        self.result.always.add(node)
        self.result.needed |= reads

    def leaf(self, node: ir.Stmt, value: ir.Expr, writes: Keys, around: Keys) -> Keys:
        """A statement that is kept for what its expression does, or for what it writes."""
        entry, calls = self.entry(node, value, writes, around)
        self.result.written[node] = entry.writes
        self.result.entries.append(entry)
        if calls:
            self.result.risky.add(node)
        return entry.reads

    def keys(self, *targets: ir.Expr) -> Keys:
        """What assignments to targets change: variables of the function at hand, or attributes."""
        found: set[Any] = set()
        for target in _each(targets):
            while isinstance(target, ir.Subscript):
                target = target.value
            if isinstance(target, ir.Attribute):
                found.add(target.attr)
            elif isinstance(target, ir.Name):
                own = target.id in self.private
                found.add((self.function, target.id) if own else target.id)
        return frozenset(found)

    def held(self, *targets: ir.Expr) -> Keys:
        """What assignments to targets read: the objects of attributes, indices."""
        objects = (each for each in _each(targets) if not isinstance(each, ir.Name))
        return NOTHING.union(*map(self.reads, objects))

    def reads(self, node: Any) -> Keys:
        """Everything that a node mentions."""
        tokens = ir.tokens_of(node)
        own = tokens & self.private
        if not own:
            return tokens
        found: set[Any] = set(tokens - own)
        stack = [node]
        while stack:
            item = stack.pop()
            kind = type(item)
            if kind is ir.Name:
                if item.id in own:
                    found.add((self.function, item.id))
            elif kind is ir.Lambda:
                found |= ir.tokens_of(item)  # its parameters; whatever else it names is not private
            else:
                if kind is ir.Attribute:
                    found.add(item.attr)
                elif kind is ir.Literal and item.value in own:
                    found.add(item.value)
                stack.extend(ir.children(item))
        return frozenset(found)

    def entry(
        self, node: ir.Stmt, value: ir.Expr, writes: Keys, around: Keys, returns: str = ""
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
                if sets_mode(item):
                    writes |= {MODE}
                if counts:
                    forced = self.callee(item.func, names, called, methods) or forced
                if item is value and isinstance(value, ir.Call) and isinstance(node, ir.Evaluate):
                    called.update(_names_given(value))
            elif kind is ir.Lambda:
                counts = False
            stack.extend([(child, counts) for child in ir.children(item)])
        entry = Entry(
            node,
            forced,
            names=self.shared(frozenset(names)),
            called=self.shared(frozenset(called)),
            methods=self.shared(frozenset(methods)),
            reads=self.shared(around | self.reads(value)),
            writes=self.shared(frozenset({returns}) if returns else writes),
            returns=returns,
            alone=self.alone and isinstance(node, ir.Evaluate),
        )
        return entry, calls

    def shared(self, keys: Keys) -> Keys:
        """The same set for equal ones: there are many, and few that differ."""
        return self.sets.setdefault(keys, keys)

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
            return name.lower().endswith(MODEL_NAMES) or name.endswith("_") or name in MUTATORS
        return not isinstance(func, ir.Lambda)


def _each(targets: Iterable[ir.Expr]) -> Iterator[ir.Expr]:
    """The single targets, in tuples and lists of them as well."""
    stack = list(targets)
    while stack:
        target = stack.pop()
        if isinstance(target, ir.Display):
            stack.extend(target.items)
        elif isinstance(target, ir.Starred):
            stack.append(target.value)
        else:
            yield target


def _names_given(call: ir.Call) -> Iterator[str]:
    """The names that a call is given as they are: one may be a function that it is to run."""
    for argument in call.args:
        if isinstance(argument.value, (ir.Name, ir.Attribute)):
            yield ir.last_name(argument.value)


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


def _private(function: ir.Function) -> Names:
    """Variables of a function that nothing outside of it can name, and that hold no definition."""
    if not function.tokens.isdisjoint(("locals", "exec", "eval")):
        return frozenset()
    public = function.captured
    stack: list[Any] = list(function.body)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Import):
            public |= {name for name, _, _ in node.bindings}
        elif isinstance(node, ir.Define):
            public |= {node.function.name}
        elif isinstance(node, ir.DefineClass):
            public |= {node.cls.name}
        elif isinstance(node, (ir.Stmt, ir.Handler)):
            stack.extend(ir.children(node))
    return function.locals - public


RUN, PASS, PASS_RISKY = "run", "pass", "pass risky"
"""What to do with a statement; one that is skipped may still be where a rank fails."""


class Slicer:
    """The verdict on each statement of the modules that a file reaches."""

    def __init__(self, slices: dict[str, ProgramSlice]) -> None:
        self.slices = slices
        self._keys = needed_names(slices.values())
        self.names: Names = frozenset(key for key in self._keys if isinstance(key, str))
        """Attributes and variables that are private to no function."""
        self._known: dict[ir.Stmt, str] = {}

    def needed(self, function: ir.Function | None, variables: Names) -> Names:
        """Those of the variables of a function, or of a module body, which can decide anything."""
        found = self.slices.get(function.module) if function is not None else None
        slice_candidate = found.slice_candidate if found is not None else None
        private = (
            slice_candidate.private.get(function, NOTHING)
            if slice_candidate and function
            else NOTHING
        )
        own = variables & private
        if not own:
            return variables & self.names
        kept = [name for name in own if (function, name) in self._keys]
        return ((variables - own) & self.names).union(kept)

    def of(self, module: Module, statement: ir.Stmt) -> str:
        verdict = self._known.get(statement)
        if verdict is None:
            found = self.slices.get(module.key)
            verdict = RUN if found is None else self._judge(found, statement)
            self._known[statement] = verdict
        return verdict

    def _judge(self, found: ProgramSlice, node: ir.Stmt) -> str:
        risky = PASS_RISKY if node in found.risky else PASS
        if node in found.always or node not in found.known:
            return RUN
        if not found.writes(node).isdisjoint(self._keys):
            return RUN
        if isinstance(node, (ir.Assign, ir.AugAssign, ir.Evaluate)):
            return risky
        if isinstance(node, (ir.If, ir.For, ir.While)):
            inner = {self._known_in(found, child) for child in (*node.body, *node.orelse)}
            if RUN in inner or isinstance(node, ir.While):
                return RUN
            return PASS_RISKY if PASS_RISKY in inner else risky
        return RUN

    def _known_in(self, found: ProgramSlice, node: ir.Stmt) -> str:
        verdict = self._known.get(node)
        if verdict is None:
            verdict = self._known[node] = self._judge(found, node)
        return verdict
