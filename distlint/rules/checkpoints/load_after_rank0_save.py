"""DST408: all ranks use what one rank has only begun to write."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.process_groups import is_distributed
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import Around, calls_of, expressions_in, placed
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import agree, imports, ranks, statements
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import LOOKS
from distlint.rules.collectives._following import Step, following
from distlint.rules.setup._order import tests_around
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_MEETS = re.compile(
    r"barrier|wait|synchron|broadcast|reduce|gather|scatter|rendezvous|\bDDP\b|Parallel|prepare"
    r"|first|FSDP|fully_shard|sleep|exists|isfile|isdir|destroy|spawn|fit|launch|init"
)
"""Calls behind which the file is there: the ranks meet, or look for it themselves."""

_WRITES = {"torch.save": 1, "numpy.save": 0, "numpy.savez": 0, "safetensors.torch.save_file": 1}
_MAKES = {"os.makedirs": 0, "os.mkdir": 0}
_READS = {"torch.load": 0, "numpy.load": 0, "safetensors.torch.load_file": 0, "open": 0}
_JOINED = {
    True: {("!=", -1), (">", -1), (">=", 0), ("is not", None), ("!=", None)},
    False: {("==", -1), ("<=", -1), ("<", 0), ("is", None), ("==", None)},
}
"""Comparisons of the rank that tell a run of many processes, by holding or by not holding."""
_DEPTH = 4
_NAMES = frozenset(
    name.rpartition(".")[2] for name in (*_WRITES, *_MAKES, *_READS, "torch.save", "open")
)


class LoadAfterRank0Save(SourceRule):
    """All ranks use a file or directory that one rank may not have written yet.

    ```python
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "best.pt")
    state = torch.load("best.pt", map_location="cpu")  # the other ranks do not wait for rank 0
    model.load_state_dict(state)
    ```

    ## Use instead

    ```python
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "best.pt")
    dist.barrier()
    state = torch.load("best.pt", map_location="cpu")
    model.load_state_dict(state)
    ```

    With Accelerate, call `accelerator.wait_for_everyone()`. A directory can be created on all ranks
    with `exist_ok=True`. A small value is better broadcast than written to a file.

    ## Why is this bad?

    The other ranks skip the branch and open the file while rank 0 is still writing it. They fail
    with `FileNotFoundError`, or read a half-written file or, on the second run, the file of the run
    before. On one machine this usually works.

    ## What is reported

    A file that is written inside a rank check and read after it by all ranks, or a directory that
    one rank creates and all ranks write to, with no synchronization in between. Also a file of
    the object that one method writes and another one reads, by the calls in the same file.

    ## What is not reported

    - The ranks synchronize in between: a barrier, any other collective, wrapping a model.
    - Only the rank that wrote the file reads it.
    - Each rank creates the directory, or one inside it, with `os.makedirs` before it writes there.
    - A rank check around both, or around all calls of the function: only the writer gets there.
    - The ranks wait until the file exists, or catch the failure, sleep and try again.
    - The paths are written differently in the source.
    - The file is used in a function that is only defined after the check: its calls are not
      followed.

    ## Fix safety

    Unsafe: a barrier is added after the branch that writes: `dist.barrier()` if the process group
    certainly exists by then, `accelerator.wait_for_everyone()` with Accelerate, otherwise
    `named_barrier("...")`, which does nothing in a run of one process.

    ## References

    - [DDP tutorial: save and load checkpoints](https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html)
    - [torch.distributed.barrier](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier)
    """

    code = "DST408"
    name = "load-after-rank0-save"
    severity = Severity.WARNING
    shared = (
        r"\bsave\(",
        r"\bsavez\(",
        r"\bsave_file\(",
        r"\bmakedirs\(",
        r"\bmkdir\(",
        r"\bopen\(",
    )

    good = (
        Example(
            title="A barrier in between",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    torch.save({"step": 3}, "state.pt")
dist.barrier()
step = torch.load("state.pt", weights_only=True)["step"]
dist.destroy_process_group()
""",
        ),
        Example(
            title="A directory that all ranks create",
            code="""\
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
os.makedirs("run", exist_ok=True)
rank = dist.get_rank()
if rank == 0:
    torch.save({"step": 3}, "run/state.pt")
torch.save({"rank": rank}, f"run/rng_{rank}.pt")
dist.destroy_process_group()
""",
        ),
        Example(
            title="A function that appends to the file of rank 0",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
is_first = dist.get_rank() == 0
if is_first:
    with open("events.txt", "w") as events:
        events.write("begin\\n")


def note(text):
    if is_first:
        with open("events.txt", "a") as events:
            events.write(text)


note("end\\n")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only rank 0 evaluates",
            code="""\
import os
import torch.distributed as dist


def evaluate(folder, rank):
    if not os.path.exists(folder) and rank in (-1, 0):
        os.makedirs(folder)
    with open(os.path.join(folder, "results.txt"), "w") as results:
        results.write("accuracy = 1\\n")


dist.init_process_group("gloo")
rank = dist.get_rank()
if rank in (-1, 0):
    evaluate("results", rank)
dist.destroy_process_group()
""",
        ),
        Example(
            title="Only rank 0 reads the file",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    torch.save({"step": 3}, "state.pt")
if rank == 0:
    print(torch.load("state.pt", weights_only=True))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All ranks read before rank 0 has written",
            effect="fail",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
if dist.get_rank() == 0:
    time.sleep(0.3)
    torch.save({"step": 3}, "state.pt")
step = torch.load("state.pt", weights_only=True)["step"]  # expect: DST408
dist.barrier()
""",
        ),
        Example(
            title="All ranks read metadata that rank 0 writes",
            effect="fail",
            code="""\
import json
import time
import torch.distributed as dist


def reload(state, folder):
    if dist.get_rank() == 0:
        time.sleep(0.3)
        with open(f"{folder}/metadata.json", "w") as file:
            json.dump(state, file)
    with open(f"{folder}/metadata.json") as file:  # expect: DST408
        return json.load(file)["step"]


dist.init_process_group("gloo")
reload({"step": 3}, ".")
dist.barrier()
""",
        ),
        Example(
            title="A directory that does not exist yet",
            effect="fail",
            code="""\
import os
import time
import torch
import torch.distributed as dist


def save(folder, state, rank):
    if rank == 0:
        time.sleep(0.3)
        os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"optimizer_{rank}.pt")
    torch.save(state, path)  # expect: DST408


dist.init_process_group("gloo")
save("run", {"step": 3}, dist.get_rank())
dist.barrier()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _NAMES.isdisjoint(module.tokens):
            return
        guards = guards_of(module, catalogue)
        by_words = is_distributed(module) or "rank" in module.tokens
        told: set[int] = set()
        for write, block in _guarded_writes(guards):
            if _comes_alone(guards, Point(write.point.scope, block), _DEPTH):
                continue
            use = _used_behind(guards, write, block)
            if use is None:
                use = _used_by_methods(guards, write, block)
            if use is None or use.site in told or _is_tried_again(guards, use, write.point):
                continue
            if not by_words and not guards.on_many_ranks(write.point.scope):
                continue
            told.add(use.site)
            locator = locators.of(module.key)
            draft = Draft(locator, module, catalogue)
            what = "directory" if guards.objects.called(write) in _MAKES else "file"
            yield self.finding(
                message=f"other ranks may use this {what} before it is written",
                severity=Severity.WARNING,
                place=locator.place(use.site),
                related=(Related("written on one rank only", locator.place(write.call.site)),),
                effect=f"the {what} may be missing or incomplete when other ranks use it",
                help="Call a barrier after the write",
                fix=partial(_fix, block, what, draft),
            )


def _is_tried_again(guards: Guards, use: ir.Call, point: Point) -> bool:
    """Is it in a loop that waits a while where it fails, and tries once more?"""
    return any(
        site.call is use
        and any(
            isinstance(here.owner, ir.Try)
            and here.block is here.owner.body
            and any("sleep" in ir.block_tokens(each.body) for each in here.owner.handlers)
            and any(
                isinstance(each.owner, (ir.For, ir.While)) for each in site.point.around[:depth]
            )
            for depth, here in enumerate(site.point.around)
        )
        for site in guards.objects.calls({ir.last_name(use.func)})
        if site.point.scope is point.scope
    )


def _fix(around: tuple[Around, ...], what: str, draft: Draft) -> Fix:
    branch = draft.locator.node(around[-1].block[around[-1].index].site)
    if not isinstance(branch, cst.If):
        raise CannotFix("the other ranks have left before")
    ranks.require_all(draft, branch)
    helper = agree.accelerator_at(draft, branch)
    if helper is not None:
        meet = f"{helper}.wait_for_everyone()"
    elif ranks.joined_before(draft, branch):
        meet = f"{imports.imported(draft, 'torch.distributed', 'barrier', branch)}()"
    else:
        barrier = imports.imported(draft, draft.catalogue.runtime, "named_barrier", branch)
        meet = f'{barrier}("the {what} is written")'
    statements.insert_after(draft, branch, meet)
    return draft.fix("unsafe", "Add a barrier after the write")


def _guarded_writes(guards: Guards) -> Iterator[tuple[CallSite, tuple[Around, ...]]]:
    """The writes under a test of the rank, with the place of that test."""
    wanted = {name.rpartition(".")[2] for name in (*_WRITES, *_MAKES, "open")}
    for site in guards.objects.calls(wanted):
        if _written_path(guards, site) is None:
            continue
        for level in range(len(site.point.around) - 1, 0, -1):
            here = site.point.around[level]
            if isinstance(here.owner, ir.If) and here.block is here.owner.body:
                if _asks_for_the_rank(here.owner.test) and not here.owner.orelse:
                    yield site, site.point.around[:level]
                    break
        else:
            if _left_before(site):
                yield site, site.point.around


def _left_before(site: CallSite) -> bool:
    """Have the other ranks left the function before a call: ``if rank != 0: return``?"""
    return any(
        isinstance(each, ir.If)
        and not each.orelse
        and _picks(each.test, True)
        and each.body
        and isinstance(each.body[-1], ir.Return)
        for here in site.point.around
        for each in here.block[: here.index]
    )


def _asks_for_the_rank(test: ir.Expr) -> bool:
    """Is a condition about the rank, and not about the file of one: ``exists(rank_dir)``?"""
    if isinstance(test, ir.Not):
        return _asks_for_the_rank(test.value)
    if isinstance(test, ir.BoolOp):
        return any(map(_asks_for_the_rank, test.values))
    return asks_rank(test) and not (isinstance(test, ir.Call) and ir.last_name(test.func) in LOOKS)


def _comes_alone(guards: Guards, point: Point, depth: int) -> bool:
    """Does a test around a statement, or around all calls of its function, pick the rank?"""
    for here in point.around:
        if isinstance(here.owner, ir.If) and _picks(here.owner.test, here.block is here.owner.body):
            return True
    callers = list(guards.all_callers(point.scope)) if depth else []
    return bool(callers) and all(
        _comes_alone(around, each.point, depth - 1) for around, each in callers
    )


def _picks(test: ir.Expr, holds: bool) -> bool:
    """Is a condition about the rank, and not about there being one: ``local_rank != -1``?"""
    if isinstance(test, ir.BoolOp) and test.op == ("and" if holds else "or"):
        return any(_picks(value, holds) for value in test.values)
    if isinstance(test, ir.Compare) and len(test.ops) == 1:
        right, sign = test.rights[0], 1
        if isinstance(right, ir.Unary) and right.op == "-":
            right, sign = right.value, -1
        bound = right.value if isinstance(right, ir.Literal) else ...
        if (test.ops[0], sign * bound if isinstance(bound, int) else bound) in _JOINED[holds]:
            return False
    return asks_rank(test)


def _written_path(guards: Guards, site: CallSite) -> ir.Expr | None:
    called = guards.objects.called(site) or site.name
    position = _WRITES.get(called, _MAKES.get(called))
    if called == "open":
        mode = guards.objects.constant(guards.objects.argument(site, "mode", 1), site.point, "r")
        position = 0 if isinstance(mode, str) and "w" in mode else None
    return _positional(site.call, position)


def _positional(call: ir.Call, position: int | None) -> ir.Expr | None:
    if position is None or len(call.args) <= position:
        return None
    argument = call.args[position]
    return None if argument.star or argument.keyword else argument.value


def _used_behind(guards: Guards, write: CallSite, around: tuple[Around, ...]) -> ir.Call | None:
    """The first use of the same path behind the test, if nothing lets the ranks meet before."""
    path = _written_path(guards, write)
    if path is None or _meets_in(write.point, around) or _left_before(write):
        return None
    makes = guards.objects.called(write) in _MAKES
    scope = write.point.scope
    for step in following(around):
        if step.role == "define" or (step.level and scope.function is None and step.guards):
            continue  # what is in the body of a function runs where it is called
        for item in expressions_in(step.node):
            if not isinstance(item, ir.Call):
                continue
            if _may_meet(guards, item, write.point):
                return None
            if makes and not step.guards and _makes_below(guards, item, path, write):
                return None  # each rank makes what is missing for itself
            if not step.guards and _uses(guards, item, path, write, makes):
                return item
        if step.role == "store" and _same(step.node, path):
            return None
        if step.role == "test" and asks_rank(step.node) and _ends_in_leave(step):
            return None
    return None


def _used_by_methods(guards: Guards, write: CallSite, around: tuple[Around, ...]) -> ir.Call | None:
    """The first use of the path in another method, which all ranks come to without a meeting."""
    path = _written_path(guards, write)
    function = write.point.scope.function
    makes = guards.objects.called(write) in _MAKES
    if path is None or makes or function is None or not function.owner:
        return None
    if not _is_of_object(path, function) or _meets_in(write.point, around):
        return None
    walk = _Walk(guards, path, function.owner)
    return walk.behind(Point(write.point.scope, around), _DEPTH)


def _is_of_object(path: ir.Expr, function: ir.Function) -> bool:
    """Does a path mean the same in each method: ``self.file``, ``join(self.folder, "a")``?"""
    names = ir.names_in(path)
    return "self" in names and not any(name in function.locals for name in names - {"self"})


class _Walk:
    """The way from a write to where another method of the class reads the file."""

    def __init__(self, guards: Guards, path: ir.Expr, owner: str) -> None:
        self._guards, self._path, self._owner = guards, path, owner
        self._met = False

    def behind(self, point: Point, depth: int) -> ir.Call | None:
        """Behind a statement, and then behind the calls of its function."""
        for step in following(point.around):
            if step.role == "define":
                continue
            for call in expressions_in(step.node):
                if isinstance(call, ir.Call):
                    use = self._at(CallSite(call, point), bool(step.guards))
                    if use is not None or self._met:
                        return use
            if step.role == "test" and asks_rank(step.node) and _ends_in_leave(step):
                return None
        function = point.scope.function
        if function is None or not depth:
            return None
        for caller in self._guards.objects.callers(function):
            if any(map(asks_rank, tests_around(caller.point))):
                continue
            self._met = False
            use = self.behind(caller.point, depth - 1)
            if use is not None:
                return use
        return None

    def _at(self, site: CallSite, is_guarded: bool) -> ir.Call | None:
        called = self._guards.objects.callee(site)
        if isinstance(called, ir.Function) and called.owner == self._owner and not is_guarded:
            use = self._inside(called)
            if use is not None:
                return use
        self._met = self._met or _may_meet(self._guards, site.call, site.point)
        self._met = self._met or _goes_backward(site.call, called)
        return None

    def _inside(self, method: ir.Function) -> ir.Call | None:
        """The read in a method, if all ranks come to it before they meet."""
        scope = self._guards.objects.scope_of(method)
        if scope is None:
            return None
        points = sorted(self._guards.objects.points_in(scope), key=lambda each: each.statement.site)
        for point in points:
            for call in calls_of(point.statement):
                called = self._guards.objects.called(CallSite(call, point)) or ir.last_name(
                    call.func
                )
                used = _positional(call, _READS.get(called))
                if used is not None and _same(used, self._path):
                    return None if self._is_some(point) else call
                if _may_meet(self._guards, call, point) or _goes_backward(call, None):
                    return None
        return None

    def _is_some(self, point: Point) -> bool:
        return self._guards.may_be_some_ranks(point) or bool(list(tests_around(point)))


def _goes_backward(call: ir.Call, called: object) -> bool:
    """Does it go through a backward pass, in which the ranks meet if the model is wrapped?"""
    return ir.last_name(call.func) == "backward" or (
        isinstance(called, ir.Function) and "backward" in called.tokens
    )


def _ends_in_leave(step: Step) -> bool:
    return isinstance(step.statement, ir.If) and any(
        isinstance(inner, (ir.Return, ir.Raise, ir.Break, ir.Continue))
        for inner, _ in placed(step.statement.body)
    )


def _meets_in(point: Point, around: tuple[Around, ...]) -> bool:
    """Do the ranks meet inside the test, behind the write (and outside of it, in another arm)?"""
    test = around[-1].block[around[-1].index]
    return any(
        _MEETS.search(ir.last_name(item.func))
        for statement, _ in placed((test,))
        for item in calls_of(statement)
        if ir.last_name(item.func) not in ("exists", "isfile", "isdir", "sleep")
    )


def _may_meet(guards: Guards, call: ir.Call, point: Point) -> bool:
    if _MEETS.search(ir.last_name(call.func)):
        return True
    callee = guards.objects.callee(CallSite(call, point))
    return isinstance(callee, ir.Function) and any(map(_MEETS.search, callee.tokens))


def _uses(guards: Guards, call: ir.Call, path: ir.Expr, write: CallSite, makes: bool) -> bool:
    called = guards.objects.called(CallSite(call, write.point)) or ir.last_name(call.func)
    if makes:
        used = _positional(call, _WRITES.get(called, 0 if called == "open" else None))
        return used is not None and _below(guards, used, path, write)
    used = _positional(call, _READS.get(called))
    return used is not None and _same(used, path)


def _makes_below(guards: Guards, call: ir.Call, folder: ir.Expr, write: CallSite) -> bool:
    """Is a folder in the one that was made, or that one itself, made with all above it?"""
    called = guards.objects.called(CallSite(call, write.point))
    made = _positional(call, 0) if called == "os.makedirs" else None
    return made is not None and (_same(made, folder) or _below(guards, made, folder, write))


def _below(guards: Guards, used: ir.Expr, folder: ir.Expr, write: CallSite) -> bool:
    """Is a path made from the folder's, by its looks?"""
    values = [used]
    if isinstance(used, ir.Name):
        values = [
            statement.value
            for statement, _ in placed(write.point.scope.body)
            if isinstance(statement, ir.Assign)
            and any(_same(target, used) for target in statement.targets)
        ]
    return any(_same(item, folder) for value in values for item in expressions_in(value))


def _same(left: object, right: object) -> bool:
    """Are two expressions written alike?"""
    if type(left) is not type(right):
        return False
    if isinstance(left, ir.Name) and isinstance(right, ir.Name):
        return left.id == right.id
    if isinstance(left, ir.Literal) and isinstance(right, ir.Literal):
        return bool(left.value == right.value)
    if isinstance(left, ir.Attribute) and isinstance(right, ir.Attribute):
        return left.attr == right.attr and _same(left.value, right.value)
    first, second = list(ir.children(left)), list(ir.children(right))
    return (
        len(first) == len(second) > 0
        and isinstance(left, (ir.Call, ir.Argument, ir.Format, ir.Binary, ir.Subscript))
        and all(_same(a, b) for a, b in zip(first, second, strict=True))
    )
