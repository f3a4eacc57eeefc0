"""What the projections of one root share: the project, the cluster, numbers, and the budget."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from distlint.analyzer import ir
from distlint.analyzer.project.module import Module
from distlint.analyzer.project.project import Project
from distlint.analyzer.static import hooks
from distlint.analyzer.static.callgraph import BUILTINS
from distlint.analyzer.static.effects import Effects
from distlint.analyzer.static.taint import ANYTHING
from distlint.analyzer.symbolic import values as v
from distlint.analyzer.symbolic.cluster import Cluster
from distlint.analyzer.symbolic.continuations import AfterYield, Continuation, EndOfGenerator
from distlint.analyzer.symbolic.loops import Loops
from distlint.analyzer.symbolic.state import Disagreement, Frame, OverBudget
from distlint.analyzer.symbolic.state_abstraction import StateAbstraction
from distlint.analyzer.symbolic.values import Value
from distlint.catalogue.catalogue import IMPLIED_TAGS
from distlint.catalogue.entries import Argument
from distlint.source.incomplete import Reason

if TYPE_CHECKING:
    from distlint.catalogue.catalogue import Catalogue

OWN_DEPTH = 3
"""How much deeper calls within the module are followed than calls into others."""
DEEPEST = 9
"""How deep short functions are followed."""

STEP_BUDGET = 30_000
"""Work that may go into one root, all its paths together: statements, and states by their size."""

ORDINARY = 100
"""Expressions of a statement that cost nothing beside the statement itself."""

EXPRESSIONS_PER_STEP = 3
"""As many more take as long as a statement."""


AnyContinuation = TypeVar("AnyContinuation", bound=Continuation)

GlobalAssignment = tuple[ir.Function, ir.Expr, int | None]
"""A function that assigns to a global, the value, and which item of it is meant."""


class ExecutionContext:
    """One root, run on one model cluster."""

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        cluster: Cluster,
        main: Module,
        effects: Effects,
    ) -> None:
        self.project = project
        self.effects = effects
        self.catalogue = catalogue
        self.cluster = cluster
        self.main = main
        self.builtins = BUILTINS
        self.slicer = effects.slicer(main)
        self.abstraction = StateAbstraction(effects, main)
        self.loops = Loops(self)
        self.static: dict[Hashable, Value] = {}
        self.frames: dict[int, Frame] = {}
        self.entered: set[ir.Function] = set()
        self.classes: set[tuple[object, ...]] = {tuple([0] * cluster.size)}
        self.steps = 0
        self.depth = 9
        self.budget = STEP_BUDGET
        self.reserve = 0
        self.is_at_home = True
        """Has the root come to nothing but its own module?"""
        self.groups: set[frozenset[int]] = set()
        self.told: dict[Value, tuple[Value, frozenset[int]]] = {}
        """What a broadcast has left on its group: the source that was named, and the members."""
        self.ends = False
        """Has a rank come to the end of the root, or to an exit that may be one?"""
        self.incomplete: set[Reason] = set()
        """Why something in the root may have been missed."""
        self.disagreements: dict[tuple[str, int], Disagreement] = {}
        """Arguments that have to be the same on all ranks, and are rank-local."""
        self.loops_cut: set[ir.Stmt] = set()
        self.loops_left: set[ir.Stmt] = set()
        """The loops that were not followed further on some way, and those that were left on one."""
        self.is_entered_late = False
        """Does the root begin in the middle of a program, and not where that begins?"""
        self._numbers: dict[Hashable, int] = {}
        self._continuations: dict[tuple[object, ...], Any] = {}
        self._assignments: dict[ir.Class, dict[str, list[GlobalAssignment]]] = {}
        self._global_assignments: dict[str, dict[str, list[GlobalAssignment]]] = {}
        self._bindings: dict[ir.Function, dict[str, list[object]]] = {}
        self.hierarchy: dict[ir.Class, tuple[ir.Class | str, ...]] = {}
        """The bases of each class of the project, as far as they have been asked for."""
        self._handed_on: dict[ir.Function, int | None] = {}
        self._devices: dict[ir.Function, frozenset[str]] = {}
        self._buffers: dict[ir.Class, frozenset[str]] = {}
        self._meets: dict[ir.Block, bool] = {}
        self._refuses: dict[ir.Function, bool] = {}
        self._alike: dict[ir.Block, bool] = {}
        self._mergeable: dict[ir.Stmt, bool] = {}

    def enter(self, function: ir.Function) -> None:
        """Note that a function is run."""
        self.entered.add(function)
        self.is_at_home = self.is_at_home and function.module == self.main.key

    def begin_root(
        self, depth: int = 9, budget: int = STEP_BUDGET, reserve: int = 0, is_script: bool = True
    ) -> None:
        """Forget what belongs to one root only; calls are followed to this depth.

        The reserve is added to the budget as long as nothing but its own module is come to.
        """
        self.is_entered_late = not is_script
        self.ends = False
        self.incomplete = set()
        self.disagreements = {}
        self.loops_cut, self.loops_left = set(), set()
        self.entered = set()
        self.loops.begin_root()
        self.depth = depth
        self.budget = budget
        self.reserve = reserve
        self.is_at_home = True
        self.steps = 0
        self.groups = set()
        self.classes = {tuple([0] * self.cluster.size)}

    def forget(self) -> None:
        """Let go of what refers to this object and its parts: only a collection would see that."""
        self.abstraction.forget()
        del self.loops

    @contextmanager
    def aside(self, depth: int | None = None, budget: int | None = None) -> Iterator[None]:
        """Something is done on a budget of its own; calls may be followed to another depth.

        What is cut off in it does not make the root incomplete.
        """
        before = self.depth, self.budget, self.reserve, self.steps
        walked = self.incomplete, self.loops_cut, self.loops_left
        self.incomplete, self.loops_cut, self.loops_left = set(), set(), set()
        self.depth = self.depth if depth is None else depth
        self.budget = self.budget if budget is None else budget
        self.reserve = self.steps = 0
        try:
            yield
        finally:
            self.depth, self.budget, self.reserve, self.steps = before
            self.incomplete, self.loops_cut, self.loops_left = walked

    def follows(self, function: ir.Function, depth: int) -> bool:
        """Is a call looked into? A short function that may communicate is, however deep."""
        if depth <= self.depth + (OWN_DEPTH if function.module == self.main.key else 0):
            return True
        is_wrapper = self.effects.may_communicate(function) and self.effects.graph.is_short(
            function
        )
        return depth <= DEEPEST and is_wrapper

    def reasons(self) -> set[Reason]:
        """Why something in the root may have been missed, as far as it has been walked."""
        never_left = any(_has_exit(loop) for loop in self.loops_cut - self.loops_left)
        return self.incomplete | ({Reason.LOOPS} if never_left else set())

    def may_communicate(self, function: ir.Function) -> bool:
        """May a function, or one that it calls, communicate?"""
        return self.effects.may_communicate(function)

    def step(self) -> None:
        """Count a statement.

        Raises:
            OverBudget: when there have been too many.
        """
        self.steps += 1
        if self.steps > self.budget:
            if not self.is_at_home or self.steps > self.budget + self.reserve:
                raise OverBudget
        if self.project.proceed is not None:
            self.project.proceed()

    def spend(self, variables: int) -> None:
        """Count the handling of a whole state, by the number of its variables."""
        self.steps += variables // 64

    def evaluate(self, expressions: int) -> None:
        """Count what a statement has evaluated, if it is unusually much.

        A condition is evaluated again for each question that it asks.
        """
        if expressions > ORDINARY:
            self.steps += (expressions - ORDINARY) // EXPRESSIONS_PER_STEP

    def number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers) + 1)

    def continuation(self, made: AnyContinuation) -> AnyContinuation:
        """The one continuation of all that are equal."""
        found: AnyContinuation = self._continuations.setdefault(made.identity, made)
        return found

    def graft(self, k: Continuation | None, after: Continuation | None) -> Continuation | None:
        """The rest of a generator after its yield, with ``after`` as what follows the with."""
        above: list[Continuation] = []
        while k is not None and not isinstance(k, EndOfGenerator):
            above.append(k)
            k = k.next
        result = after
        if k is not None:
            result = self.continuation(AfterYield(k.frame, after, k.caller, k.it, k.statement))
        for item in reversed(above):
            result = self.continuation(replace(item, next=result))
        return result

    # ---- what statements do, as far as their shape tells

    def aborts(self, block: ir.Block) -> bool:
        """Does the block end the job with an error, unless it is left before?"""
        if not block:
            return False
        last = block[-1]
        if isinstance(last, ir.Raise):
            return True
        return (
            isinstance(last, ir.Evaluate)
            and isinstance(last.value, ir.Call)
            and _is_abort(last.value)
        )

    def is_left_by_error_alone(self, block: ir.Block) -> bool:
        """Does the block end the job with an error, and is there no other way out of it?"""
        return self.aborts(block) and not _may_be_left(block)

    def always_aborts(self, block: ir.Block) -> bool:
        """Does every way through the block end the job with an error, and after a known time?"""
        return self.aborts(block) and not _leaves(block)

    def meets(self, frame: Frame | None, block: ir.Block) -> bool:
        """May a block, or what it calls, communicate?"""
        known = self._meets.get(block)
        if known is None:
            module = frame.module if frame is not None else self.main
            known = self.effects.block_may_communicate(module, ir.block_tokens(block))
            self._meets[block] = known
        return known

    def is_alike(self, frame: Frame, block: ir.Block) -> bool:
        """Does no rank meet others, or ask which one it is, in a block and what it calls?"""
        known = self._alike.get(block)
        if known is None:
            known = self.effects.block_is_alike(frame.module, ir.block_tokens(block))
            self._alike[block] = known
        return known

    def mergeable(self, statement: ir.If | ir.For) -> bool:
        """May both ways be run one after the other? Not if one leaves, or is seen to matter."""
        known = self._mergeable.get(statement)
        if known is None:
            known = not _leaves((*statement.body, *statement.orelse), flags=True)
            self._mergeable[statement] = known
        return known

    def unmergeable(self, statement: ir.If | ir.For) -> None:
        self._mergeable[statement] = False

    def refine(self, outcome: tuple[object, ...]) -> None:
        """Note how a rank predicate splits the ranks: only ranks told apart need comparing."""
        self.classes.add(outcome)

    def meet(self, members: frozenset[int]) -> None:
        """Note a group of ranks that meet without the others."""
        if members not in self.groups:
            self.groups.add(members)
            self.refine(tuple(rank in members for rank in range(self.cluster.size)))

    def distinguished(self, first: int, second: int) -> bool:
        return any(outcome[first] != outcome[second] for outcome in self.classes)

    # ---- modules

    def module(self, key: str) -> Module | None:
        return self.main if key == self.main.key else self.project.by_key(key)

    def module_by_key(self, key: str) -> Module:
        return self.module(key) or self.main

    def module_of(self, cls: ir.Class) -> Module:
        return self.module_by_key(cls.module)

    def module_scope(self, module: Module) -> int:
        return self.number(("module", module.key))

    def find_module(self, dotted: str, importer: Module) -> Path | None:
        return self.project.find(dotted, importer.path)

    def submodule(self, package: Module, name: str) -> Path | None:
        return self.project.submodule(package.path, name)

    def unwraps(self, kind: str) -> str | None:
        """The attribute under which a wrapper keeps what it wraps."""
        return next((info.unwraps for info in self.catalogue.classes(kind) if info.unwraps), None)

    def matters(self, function: ir.Function) -> bool:
        """Is a function run? See :meth:`Effects.matters`."""
        return self.effects.matters(function)

    def does_something(self, function: ir.Function) -> bool:
        """Does a function, or one that it calls, more than work out a value?

        What it works out may be another each time, by a count that its module keeps.
        """
        return self.effects.does_something(function) or self.effects.asks_count(function)

    def returns_all_ranks(self, function: ir.Function) -> bool:
        """Is what a function returns a group of all ranks, whichever way it takes?"""
        returned = [
            statement.value
            for statement in ir.statements_of(function.body)
            if isinstance(statement, ir.Return)
        ]
        return bool(returned) and all(map(_is_group_of_all, returned))

    def refuses(self, function: ir.Function) -> bool:
        """Does it begin by raising, on a condition that decides something elsewhere, too?

        Then what comes after the call is done with other settings only.
        """
        found = self._refuses.get(function)
        if found is None:
            found = self._refuses[function] = any(
                isinstance(statement, ir.If)
                and any(isinstance(each, ir.Raise) for each in (*statement.body, *statement.orelse))
                and not ir.tokens_of(statement.test).isdisjoint(self.slicer.names)
                for statement in function.body
            )
        return found

    def changes_something(self, function: ir.Function) -> bool:
        """Does it write to anything but its own variables that can decide something?"""
        changed = self.effects.graph.changes(function)
        return ANYTHING in changed or not changed.isdisjoint(self.slicer.names | hooks.STOP_FLAGS)

    def lets_out(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Does it change anything outside by what these parameters hold, or fail by them?"""
        return self.effects.lets_out(function, names)

    def leaks(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Does anything that these parameters hold leave the function?"""
        return self.effects.taint_of(function).leaks(function, names)

    def ignores(self, function: ir.Function, names: frozenset[str]) -> bool:
        """Is what a function returns the same on all ranks, whatever these parameters are?"""
        return not self.effects.taint.leaks(function, names)

    # ---- what the catalogue says about classes

    def tags_of(self, kind: str) -> frozenset[str]:
        """Strategies that an object of this class is a sign of, with what they imply."""
        found: set[str] = set()
        for info in self.catalogue.classes(kind):
            for tag in info.tags:
                found.update((tag, *IMPLIED_TAGS.get(tag, ())))
        return frozenset(found)

    def alone_with(self, kind: str) -> list[Argument]:
        """Constructor arguments with which an object keeps to itself."""
        return [argument for info in self.catalogue.classes(kind) for argument in info.alone_with]

    def built_tags(self, value: v.Obj) -> frozenset[str]:
        """Strategies that the arguments of the constructor are a sign of."""
        found: set[str] = set()
        for info in self.catalogue.classes(value.kind):
            for argument, tag in (info.tagged_by or {}).items():
                given = any(
                    mark.startswith(f"{argument}=")
                    and not mark.endswith(("=None", "=False", "=''"))
                    for mark in value.marks
                )
                if given:
                    found.update((tag, *IMPLIED_TAGS.get(tag, ())))
        return frozenset(found)

    # ---- classes

    def assignments(
        self, cls: ir.Class, attr: str
    ) -> list[tuple[ir.Function, ir.Expr, int | None]]:
        """What the methods of a class assign to ``self.attr``: method, value, item of a tuple."""
        table = self._assignments.get(cls)
        if table is None:
            table = {}
            for function in cls.methods.values():
                owner = function.params[0].name if function.params else ""
                for name, value, index in _self_assignments(function.body, owner):
                    table.setdefault(name, []).append((function, value, index))
            self._assignments[cls] = table
        return table.get(attr, [])

    def global_assignments(self, module: Module, name: str) -> list[GlobalAssignment]:
        """What functions of a module assign to a global: function, value, item of a tuple."""
        table = self._global_assignments.get(module.key)
        if table is None:
            table = self._global_assignments[module.key] = {}
            for function in module.functions:
                for target, value, index in ir.assignments_in(function.body):
                    if isinstance(target, ir.Name) and target.id in function.outer:
                        table.setdefault(target.id, []).append((function, value, index))
        return table.get(name, [])

    def bindings(self, function: ir.Function, name: str) -> list[object]:
        """What a function binds a variable to: expressions, functions, None for anything else."""
        table = self._bindings.get(function)
        if table is None:
            table = self._bindings[function] = {}
            for target, value, index in ir.assignments_in(function.body):
                for bound in ir.names_bound(target):
                    table.setdefault(bound, []).append(value if index is None else None)
            for node in ir.own_nodes(function.body):
                if isinstance(node, ir.Define):
                    table.setdefault(node.function.name, []).append(node.function)
                elif not isinstance(node, ir.Assign):
                    for bound in ir.bound_by(node):
                        table.setdefault(bound, []).append(None)
        return table.get(name, [])

    def buffers_of(self, cls: ir.Class) -> frozenset[str]:
        """The names that a class gives its buffers: ``self.register_buffer("name", tensor)``."""
        if cls not in self._buffers:
            self._buffers[cls] = frozenset(
                node.args[0].value.value
                for method in cls.methods.values()
                for node in ir.own_nodes(method.body)
                if isinstance(node, ir.Call)
                and ir.last_name(node.func) == "register_buffer"
                and node.args
                and isinstance(node.args[0].value, ir.Literal)
            )
        return self._buffers[cls]

    def hands_on(self, function: ir.Function) -> int | None:
        """The parameter whose items a generator yields as they are, one by one; None if none is."""
        if function not in self._handed_on:
            self._handed_on[function] = _handed_on(function)
        return self._handed_on[function]

    def asks_for_kind(self, function: ir.Function) -> bool:
        """Is it a test of what kind of thing it is given? That is the same on all ranks."""
        last = function.body[-1] if function.body else None
        is_one = isinstance(last, ir.Return) and not _OF_KIND.isdisjoint(function.tokens)
        return is_one and self.effects.graph.is_short(function)

    def binds_device(self, function: ir.Function, name: str) -> bool:
        """Is a parameter used as the device of this process? Then it is the local rank."""
        known = self._devices.get(function)
        if known is None:
            known = frozenset(_device_names(function.body))
            self._devices[function] = known
        return name in known


_OF_KIND = frozenset({"is_floating_point", "is_complex", "is_tensor", "isinstance"})
"""Calls that look at the type of a thing, or at its dtype."""


def _handed_on(function: ir.Function) -> int | None:
    """The position of ``items`` in a body like ``for each in items: ...; yield each; ...``."""
    loops = [loop for loop in function.body if isinstance(loop, ir.For)]
    names = [param.name if not param.star else "" for param in function.params]
    for loop in loops:
        items, each = loop.iterable, loop.target
        if not isinstance(items, ir.Name) or not isinstance(each, ir.Name):
            continue
        nodes = [node for node in ir.own_nodes(function.body) if node is not loop]
        bound = frozenset().union(*map(ir.bound_by, nodes))
        if (
            items.id in names
            and bound.isdisjoint({items.id, each.id})
            and not any(isinstance(node, _LEAVING) for node in nodes)
            and sum(isinstance(node, ir.Yield) for node in nodes) == 1
            and any(_yields(statement, each.id) for statement in loop.body)
        ):
            return names.index(items.id)
    return None


_LEAVING = (ir.Return, ir.Break, ir.Continue, ir.Try)


def _yields(statement: ir.Stmt, name: str) -> bool:
    """Is it ``yield name``?"""
    return (
        isinstance(statement, ir.Evaluate)
        and isinstance(statement.value, ir.Yield)
        and not statement.value.delegated
        and isinstance(statement.value.value, ir.Name)
        and statement.value.value.id == name
    )


def _self_assignments(block: ir.Block, owner: str) -> Iterator[tuple[str, ir.Expr, int | None]]:
    for item, value, index in ir.assignments_in(block):
        if (
            isinstance(item, ir.Attribute)
            and isinstance(item.value, ir.Name)
            and item.value.id == owner
        ):
            yield item.attr, value, index


def _device_names(block: ir.Block) -> Iterator[str]:
    """Names passed as ``device_ids=[name]`` or to ``set_device(name)``."""
    stack: list[Any] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, ir.Call):
            name = ir.last_name(node.func)
            for argument in node.args:
                value = argument.value
                if argument.keyword == "device_ids" and isinstance(value, ir.Display):
                    yield from (item.id for item in value.items if isinstance(item, ir.Name))
                elif name == "set_device" and isinstance(value, ir.Name):
                    yield value.id
        if not isinstance(node, (ir.Define, ir.DefineClass)):
            stack.extend(ir.children(node))


def _is_group_of_all(node: ir.Expr | None) -> bool:
    """``dist.group.WORLD``, or ``dist.new_group(backend="gloo")`` without ranks."""
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "new_group":
        return not any(each.star or each.keyword in {None, "ranks"} for each in node.args)
    return isinstance(node, ir.Attribute) and node.attr == "WORLD"


def _is_abort(call: ir.Call) -> bool:
    """``sys.exit(1)``, ``os._exit(1)``, ``os.abort()``, ``pytest.skip()``, ``parser.error()``."""
    name = ir.last_name(call.func)
    if name in {"abort", "skip"}:
        return True
    if name == "error":
        receiver = getattr(call.func, "value", None)
        return isinstance(receiver, ir.Name) and "parser" in receiver.id
    if name not in {"exit", "_exit", "quit"} or not call.args:
        return False
    status = call.args[0].value
    return not (isinstance(status, ir.Literal) and status.value in {0, None})


def _has_exit(loop: ir.Stmt) -> bool:
    """Can a loop come to an end, other than by an exception of something that it calls?"""
    return isinstance(loop, ir.While) and (
        not (isinstance(loop.test, ir.Literal) and loop.test.value)
        or any(
            isinstance(node, (ir.Break, ir.Return, ir.Raise)) for node in ir.own_nodes(loop.body)
        )
    )


def _may_be_left(block: ir.Block) -> bool:
    """Is there a way out of a block that is no error: a jump, or an exit with success?"""
    stack: list[tuple[Any, bool]] = [(statement, False) for statement in block]
    while stack:
        node, in_loop = stack.pop()
        if isinstance(node, ir.Return):
            return True
        if isinstance(node, (ir.Break, ir.Continue)) and not in_loop:
            return True
        if isinstance(node, ir.Evaluate) and _is_quiet_exit(node.value):
            return True
        in_loop = in_loop or isinstance(node, (ir.For, ir.While))
        stack.extend(
            (child, in_loop)
            for child in ir.children(node)
            if isinstance(child, (ir.Stmt, ir.Handler))
            and not isinstance(child, (ir.Define, ir.DefineClass))
        )
    return False


def _is_quiet_exit(node: ir.Expr) -> bool:
    """``sys.exit()``, ``os._exit(0)``"""
    return (
        isinstance(node, ir.Call)
        and ir.last_name(node.func) in {"exit", "_exit", "quit"}
        and not _is_abort(node)
    )


def _leaves(block: ir.Block, flags: bool = False) -> bool:
    """Is there a jump, a yield or a loop of unknown length in the block? Or a flag that stops?"""
    return any(
        isinstance(node, (ir.Return, ir.Break, ir.Continue, ir.While, ir.Yield))
        or (flags and hooks.sets_stop_flag(node))
        for node in ir.own_nodes(block)
    )
