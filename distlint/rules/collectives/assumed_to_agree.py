"""DST122: ranks stay together only if something agrees that nothing in the file makes agree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.journeys import function_called
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import Path, Point, path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_LIBRARIES = ("torch.distributed.", "deepspeed.comm.")
_MEETINGS = frozenset(
    {
        "barrier", "all_reduce", "all_gather", "all_gather_object", "broadcast", "reduce", "gather",
        "broadcast_object_list", "all_gather_into_tensor", "reduce_scatter_tensor", "gather_object",
    }
)  # fmt: skip
_TAKES_OUT = frozenset({"pop", "popleft", "popitem", "remove"})
_REPORTED = re.compile(r"metric|loss|log|stat|score|meter|result", re.IGNORECASE)
_STOPS = re.compile(r"improv|should_stop|early_?stop|patience|plateau|converged", re.IGNORECASE)
_SHARDS = frozenset({"fully_shard", "FullyShardedDataParallel", "FSDP"})
_AGREES = re.compile(r"reduce|gather|broadcast|sync|agree|callback_metrics")
_CALLBACKS = ("lightning.pytorch.Callback",)
_FLAG = "should_stop"
_KNOWN = frozenset(
    {"hparams", "current_epoch", "global_step", "trainer", "global_rank", "training", "device"}
)
"""Attributes of a LightningModule that all ranks hold alike."""


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A place, and what has to be the same on all ranks there."""

    site: int
    what: str
    help: str


class AssumedToAgree(SourceRule):
    """The ranks stay in sync only if a value is the same on all ranks, and no code ensures that.

    ```python
    def step(self):
        if not self.jobs:  # empty on this rank only?
            return
        self.jobs.pop()
        dist.all_reduce(self.done)
    ```

    ## Use instead

    ```python
    def step(self):
        if self.jobs:
            self.jobs.pop()
        dist.all_reduce(self.done)
    ```

    If the value is rank-local, agree on it first: `all_reduce` a flag, gather the union of the
    keys, pass a dummy input to the submodule. If all ranks hold the same value, suppress the
    finding and give the reason.

    ## Why is this bad?

    Most queues, metrics of the last batch and validation losses are rank-local. A rank that decides
    differently is missing in the next collective, or joins the wrong one.

    ## What is reported

    distlint assumes that a value of unknown origin is the same on all ranks. This rule reports
    places where a hang depends on that assumption:

    - A function returns before a collective because a container is empty or lacks a key, and the
      function removes items from the container or looks up the key.
    - A collective is called for each item of a dict of metrics, in the order of the dict.
    - A loop with collectives is left when a counter of steps without improvement, which each rank
      keeps separately, is too high.
    - A loop is left on a flag that is written under a rank check, and nothing in the loop shares
      the flag with the other ranks.
    - A sharded submodule runs only if an optional input of `forward` is given.
    - A Lightning callback sets `should_stop` based on an attribute of the module in this process.

    In preview, with severity info: many of these values are the same on all ranks.

    ## What is not reported

    - The value comes from a collective.
    - The value is known to be rank-local: [unsynced-break](unsynced-break.md) and similar rules,
      which prove a hang, report that.
    - The keys are sorted or gathered first.

    ## Fix safety

    None: the code does not show whether the ranks can differ there.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    """

    code = "DST122"
    name = "assumed-to-agree"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="An idle rank calls the collective",
            code="""\
import torch
import torch.distributed as dist


class Queue:
    def __init__(self, jobs):
        self.jobs = jobs

    def finish(self):
        ready = torch.tensor(len(self.jobs))
        dist.all_reduce(ready, op=dist.ReduceOp.MIN)
        for _ in range(int(ready)):
            self.jobs.pop()


dist.init_process_group("gloo")
Queue(["job"] * dist.get_rank()).finish()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The same keys in the same order",
            code="""\
import torch
import torch.distributed as dist

NAMES = ("loss", "accuracy")


def average(metrics):
    for name in NAMES:
        value = metrics.get(name, torch.zeros(()))
        dist.all_reduce(value)
        metrics[name] = value / dist.get_world_size()
    return metrics


dist.init_process_group("gloo")
print(average({"loss": torch.tensor(1.0)}))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="No reduction if the queue is empty",
            effect="static",
            why_static="what the queue holds is not in the script",
            code="""\
import torch
import torch.distributed as dist


class Queue:
    def finish(self, group):
        if not self.jobs:  # expect: DST122
            return 0
        ready = torch.tensor(len(self.jobs))
        dist.all_reduce(ready, op=dist.ReduceOp.MIN, group=group)
        while len(self.jobs) > int(ready):
            self.jobs.popleft()
        return int(ready)
""",
        ),
        Example(
            title="A reduction for each metric of this rank",
            effect="static",
            why_static="what the dict holds is not in the script",
            code="""\
import torch.distributed as dist


def average(metrics):
    for name, value in metrics.items():  # expect: DST122
        dist.all_reduce(value)
        metrics[name] = value / dist.get_world_size()
    return metrics
""",
        ),
        Example(
            title="Patience that is counted on each rank",
            effect="static",
            why_static="what the trainer compares is not in the script",
            code="""\
import torch.distributed as dist


def fit(trainer, batches, patience):
    bad = 0
    for batch in batches:
        trainer.step(batch)
        bad = 0 if trainer.has_improved() else bad + 1
        dist.barrier()
        if bad > patience:  # expect: DST122
            break
    dist.barrier()
""",
        ),
        Example(
            title="A stop flag of the main process",
            effect="static",
            why_static="what happens in an epoch is not in the script",
            code="""\
import torch


class Fitter:
    def run(self, epochs, is_main_process):
        for epoch in range(epochs):
            loss = self.one_epoch().backward()
            if is_main_process:
                self.enough = self.is_good(loss)
            if self.enough:  # expect: DST122
                break
""",
        ),
        Example(
            title="A sharded image encoder",
            effect="static",
            why_static="which batches hold images is not in the script",
            code="""\
import torch.nn as nn
from torch.distributed.fsdp import fully_shard


class Captioner(nn.Module):
    def __init__(self, eye, mouth):
        super().__init__()
        self.eye, self.mouth = fully_shard(eye), fully_shard(mouth)

    def forward(self, ids, image=None):
        seen = None
        if image is not None:  # expect: DST122
            seen = self.eye(image)
        return self.mouth(ids, seen)
""",
        ),
        Example(
            title="A callback that stops one process",
            effect="static",
            needs=("lightning",),
            why_static="what the module counts is not in the script",
            code="""\
import lightning as L


class GoodEnough(L.Callback):
    def on_validation_end(self, trainer, pl_module):
        share = pl_module.hits / pl_module.total
        if share > 0.9:
            trainer.should_stop = True  # expect: DST122
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        tokens = module.tokens | set(module.aliases.values())
        near = (tokens, *(each.tokens for each in module.imports))
        meets = not all(map(_MEETINGS.isdisjoint, near))
        if not meets and tokens.isdisjoint(_SHARDS | {_FLAG}) and not _speaks_of_main(tokens):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        seen: set[int] = set()
        for doubt in _doubts(objects, tokens, meets=meets):
            if doubt.site not in seen:
                seen.add(doubt.site)
                yield self.finding(
                    message=f"code assumes that {doubt.what} on all ranks",
                    severity=Severity.INFO,
                    place=locator.place(doubt.site),
                    effect="the job hangs or mismatches collectives as soon as it differs",
                    help=doubt.help,
                )


def _doubts(objects: Objects, tokens: Iterable[str], *, meets: bool) -> Iterator[_Doubt]:
    shards = not _SHARDS.isdisjoint(tokens)
    for point in objects.points:
        statement = point.statement
        if isinstance(statement, ir.If):
            if meets:
                yield from _empty_handed(objects, point, statement)
                yield from _out_of_patience(objects, point, statement)
            if shards:
                yield from _optional_input(objects, point, statement)
            yield from _flag_of_main(point, statement)
        elif isinstance(statement, ir.For) and meets:
            yield from _each_entry(objects, point, statement)
        elif isinstance(statement, ir.Assign) and _FLAG in tokens:
            yield from _stop_of_one(objects, point, statement)


# ---- a return because of what a container holds


def _empty_handed(objects: Objects, point: Point, branch: ir.If) -> Iterator[_Doubt]:
    held = _container(branch.test)
    if held is None or branch.orelse or not isinstance(_last(branch.body), ir.Return):
        return
    if _meets_in(objects, branch.body, point):
        return
    here = point.around[-1]
    after = here.block[here.index + 1 :]
    if not _uses_up(after, held, by_key=_asks_key(branch.test)):
        return
    if not _is_own(held, point):
        return
    if any(_meets_in(objects, (statement,), point) for statement in after):
        what = f"`{'.'.join(held)}` holds the same items"
        yield _Doubt(
            branch.site,
            what,
            "Call the collective on all ranks, with a neutral value where there is nothing to do",
        )


def _last(block: ir.Block) -> ir.Stmt | None:
    """The last statement; ``pass`` is none."""
    return block[-1] if block else None


def _container(test: ir.Expr) -> Path | None:
    """What is asked for being empty, or for lacking a key."""
    if isinstance(test, ir.Not):
        value = test.value
        if isinstance(value, ir.Call) and path_of(value.func) == ("len",) and value.args:
            value = value.args[0].value
        return path_of(value)
    if isinstance(test, ir.Compare) and test.ops == ("not in",):
        return path_of(test.rights[0])
    if isinstance(test, ir.Compare) and test.ops == ("==",):
        call, right = test.left, test.rights[0]
        if isinstance(call, ir.Call) and path_of(call.func) == ("len",) and call.args:
            if isinstance(right, ir.Literal) and right.value == 0:
                return path_of(call.args[0].value)
    return None


def _asks_key(test: ir.Expr) -> bool:
    return isinstance(test, ir.Compare) and test.ops == ("not in",)


def _uses_up(block: ir.Block, held: Path, *, by_key: bool) -> bool:
    """Does a block take something out of a container, or look up the key that is there?"""
    for statement, _ in placed(block):
        for node in nodes_of(statement):
            if by_key and isinstance(node, ir.Subscript) and path_of(node.value) == held:
                return True
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
                if node.func.attr in _TAKES_OUT and path_of(node.func.value) == held:
                    return True
    return False


def _is_own(path: Path, point: Point) -> bool:
    """Is it an attribute of the object, or a parameter: something that the caller knows about?"""
    function = point.scope.function
    if function is None:
        return False
    return path[0] == "self" or any(param.name == path[0] for param in function.params)


# ---- a collective for each entry of a dict


def _each_entry(objects: Objects, point: Point, loop: ir.For) -> Iterator[_Doubt]:
    call = loop.iterable
    if not (isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) and not call.args):
        return
    held = path_of(call.func.value)
    if call.func.attr not in ("items", "values", "keys") or held is None:
        return
    if not _REPORTED.search(held[-1]) or not _is_own(held, point):
        return
    if _meets_in(objects, loop.body, point):
        what = f"`{'.'.join(held)}` has the same keys in the same order"
        yield _Doubt(loop.site, what, "Gather the union of the keys and sort it")


# ---- a loop that is left by a counter


def _out_of_patience(objects: Objects, point: Point, branch: ir.If) -> Iterator[_Doubt]:
    loop = next(loops_around(point), None)
    if loop is None or not isinstance(_last(branch.body), (ir.Break, ir.Return)):
        return
    if not _meets_in(objects, loop.body, point):
        return
    for name in {path_of(node) for node in expressions_in(branch.test) if path_of(node)}:
        asked = _asked_about(loop, name)
        if asked is not None:
            what = f"`{asked}` returns the same"
            yield _Doubt(branch.site, what, "`all_reduce` the decision before leaving the loop")
            return


def _asked_about(loop: ir.For | ir.While, name: Path | None) -> str | None:
    """The question, by its name, that decides about a variable in a loop."""
    for statement, around in placed(loop.body):
        if name not in map(path_of, _bound(statement)):
            continue
        tests = [here.owner.test for here in around if isinstance(here.owner, ir.If)]
        for node in (*nodes_of(statement), *(n for test in tests for n in expressions_in(test))):
            if isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
                if _STOPS.search(node.func.attr) and not _AGREES.search(node.func.attr):
                    return node.func.attr
    return None


# ---- a loop that is left by a flag of the main process


def _speaks_of_main(tokens: Iterable[str]) -> bool:
    return any("main" in token or "rank" in token for token in tokens)


def _flag_of_main(point: Point, branch: ir.If) -> Iterator[_Doubt]:
    loop = next(loops_around(point), None)
    if loop is None or not isinstance(_last(branch.body), (ir.Break, ir.Return)):
        return
    flag = path_of(branch.test)
    if flag is None or any(_tests_rank(here.owner) for here in point.around):
        return
    written = [
        around for statement, around in placed(loop.body) if flag in map(path_of, _bound(statement))
    ]
    if not written or not all(
        any(_tests_rank(here.owner) for here in around) for around in written
    ):
        return
    if any(_AGREES.search(token) for token in ir.block_tokens(loop.body)):
        return
    what = f"`{'.'.join(flag)}` is assigned"
    yield _Doubt(branch.site, what, "Broadcast the flag before it is tested")


def _tests_rank(owner: ir.Stmt | None) -> bool:
    return isinstance(owner, ir.If) and asks_rank(owner.test)


def _bound(statement: ir.Stmt) -> tuple[ir.Expr, ...]:
    if isinstance(statement, ir.Assign):
        return statement.targets
    return (statement.target,) if isinstance(statement, ir.AugAssign) else ()


# ---- a sharded submodule that is run for some inputs


def _optional_input(objects: Objects, point: Point, branch: ir.If) -> Iterator[_Doubt]:
    function = point.scope.function
    if function is None or function.name != "forward" or not function.owner or branch.orelse:
        return
    if any(True for _ in objects.calls({function.owner})):
        return  # then its forward is followed from where it is made
    given = _optional(branch.test, function)
    if given is None:
        return
    for statement, around in placed(branch.body):
        inner = Point(point.scope, (*point.around, *around))
        for call in calls_of(statement):
            path = path_of(call.func)
            if path is None or path[0] != "self":
                continue
            made = [origin.site for origin in objects.origins(call.func, inner)]
            if any(site is not None and site.name in _SHARDS for site in made):
                what = f"`{given}` is given for the same batches"
                help = "Run the submodule on a dummy input if there is none"
                yield _Doubt(branch.site, what, help)
                return


def _optional(test: ir.Expr, function: ir.Function) -> str | None:
    """The parameter that may be left out, of which a test asks whether it is there."""
    if not (isinstance(test, ir.Compare) and test.ops == ("is not",)):
        return None
    path = path_of(test.left)
    for param in function.params:
        if path == (param.name,) and isinstance(param.default, ir.Literal):
            return param.name if param.default.value is None else None
    return None


# ---- a Lightning callback that stops one process


def _stop_of_one(objects: Objects, point: Point, statement: ir.Assign) -> Iterator[_Doubt]:
    function = point.scope.function
    if function is None or not function.owner or len(function.params) < 3:
        return
    if not any(path_of(target) == (function.params[1].name, _FLAG) for target in statement.targets):
        return
    if any(_AGREES.search(token) for token in function.tokens):
        return
    if not any(cls.name == function.owner for cls in objects.classes.subclasses_of(*_CALLBACKS)):
        return
    module = function.params[2].name
    for here in point.around:
        if not isinstance(here.owner, ir.If):
            continue
        for attribute in _attributes(objects, here.owner.test, point, module):
            if attribute not in _KNOWN:
                what = f"`{module}.{attribute}` is the same"
                help = "Decide with `trainer.strategy.reduce_boolean_decision(...)`"
                yield _Doubt(statement.site, what, help)
                return


def _attributes(objects: Objects, test: ir.Expr, point: Point, module: str) -> Iterator[str]:
    """The attributes of a module in a test, or in what its variables are made of."""
    for node in list(expressions_in(test)):
        made = [node]
        if isinstance(node, ir.Name):
            made += [each.node for each in objects.origins(node, point)]
        for expression in made:
            for item in expressions_in(expression) if isinstance(expression, ir.Expr) else ():
                path = path_of(item) if isinstance(item, ir.Attribute) else None
                if path is not None and path[0] == module and len(path) > 1:
                    yield path[1]


# ---- collectives


def _meets_in(objects: Objects, block: ir.Block, point: Point, depth: int = 1) -> bool:
    """Does a block issue a collective of torch, itself or in a function that it calls?"""
    for statement, around in placed(block):
        inner = Point(point.scope, (*point.around, *around))
        for call in calls_of(statement):
            name = ir.last_name(call.func)
            site = CallSite(call, inner)
            if name in _MEETINGS and objects.called(site) in [f"{lib}{name}" for lib in _LIBRARIES]:
                return True
            there, callee = (function_called(objects, site) if depth else None) or (objects, None)
            scope = there.scope_of(callee) if callee is not None else None
            if callee is not None and scope is not None and callee.tokens & _MEETINGS:
                if _meets_in(there, callee.body, Point(scope, ()), depth - 1):
                    return True
    return False
