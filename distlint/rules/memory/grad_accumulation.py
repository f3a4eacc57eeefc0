"""DST308: gradient accumulation that loses, mixes up or needlessly sends gradients."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of, expressions_in, nodes_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.fixers import names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.gradients._steps import BACKWARD, backwards
from distlint.rules.memory import _no_sync as no_sync
from distlint.rules.memory._always_sent import always_sent
from distlint.rules.memory._handed import handed_over, may_go_backward, method_calls
from distlint.rules.memory._lost_windows import Lost, lost_windows, never_sent, unprepared_steps
from distlint.rules.training import loops_around
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.names import Scope
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Path, Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.rules.gradients._steps import Backward
    from distlint.source.document import Document

_LAST = re.compile(r"last|len|final|end|total|num_batches|is_", re.IGNORECASE)
_AUTO = "auto_find_batch_size"
_LOADER = re.compile(r"loader$", re.IGNORECASE)
_ITEMS = "num_items_in_batch"
_SCALES = re.compile(r"^div_?$|^mul_?$|normali[sz]e|scale_grad|grad_scale|reduction|^lr_scale$")
_UNTOLD = "model_accepts_loss_kwargs"
_SYNCS = frozenset({"no_sync", "require_backward_grad_sync", "set_requires_gradient_sync"})

_BLOCKS = (ir.If, ir.For, ir.While, ir.With, ir.Try, ir.Define, ir.DefineClass)
_MANAGED = frozenset({"accumulate", "no_backward_sync", "deepspeed", "manual_backward"})


class GradAccumulation(SourceRule):
    """Gradient accumulation loses gradients, mixes them up, or communicates them needlessly.

    ```python
    for step, batch in enumerate(loader):
        loss = model(batch).mean() / 4
        loss.backward()
        if step % 4 == 0:  # bad: steps after the first batch
            optimizer.step()
            optimizer.zero_grad()
    ```

    ## Use instead

    ```python
    for index, batch in enumerate(loader):
        last = (index + 1) % 4 == 0 or index + 1 == len(loader)
        with nullcontext() if last else model.no_sync():
            loss = model(batch).mean() / 4
            loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    ```

    `distlint.runtime.accumulate` and `accelerator.accumulate` do the same.

    ## Why is this bad?

    No error is raised. Gradients of the last batches are lost or leak into the next epoch,
    accumulation windows are shifted, or n times as much is sent over the network as necessary.

    ## What is reported

    - `no_sync()` of a `DistributedDataParallel` around the backward pass only: it takes effect
      where the wrapped model is called, so the gradients of every micro-batch are still
      communicated.
    - A step at `step % n == 0` with a count from zero: the first window has a single batch, and all
      other windows are shifted.
    - `zero_grad()` for each batch where `step()` is called at `(step + 1) % n == 0` only, and
      `zero_grad()` only before a loop that steps again and again.
    - `no_sync()` around all backward passes of a function that calls `step()` after them.
    - A window of several batches of a model in `DistributedDataParallel` without `no_sync()`
      anywhere in the file or in those that it imports: each backward pass sends the gradients, only
      the last one has to. An info, once for each loop.
    - A step in `accelerator.accumulate(...)` of an optimizer of torch that is not prepared: it is
      not skipped within a window.
    - `auto_find_batch_size=True` with `gradient_accumulation_steps` above 1: the batch size is
      reduced automatically, the accumulation is not adjusted. An info.
    - In preview, as an info: a loop whose last, shorter window is never stepped; a loss that is not
      divided by the number of batches; a `compute_loss` of a Trainer that ignores
      `num_items_in_batch`.

    ## What is not reported

    - The forward pass is inside `no_sync()` as well, or the wrapper is another one, such as FSDP,
      whose `no_sync()` takes effect in the backward pass.
    - `(index + 1) % n`, a count from one, and a window of one batch.
    - Loops that skip the batches that do not fill a window: `if index // n >= steps: continue`.
    - A Trainer that divides in any case: `self.model_accepts_loss_kwargs = False`.
    - Files that average gradients or parameters themselves, for `no_sync()`.
    - Accumulation that a framework counts: `accelerator.accumulate`, DeepSpeed, Lightning.
    - A missing division, if the loss may be a sum or is scaled in any way.

    ## Fix safety

    Unsafe: the forward pass before `no_sync()` is moved inside, with the statements in between. The
    count starts at one, `(step + 1) % n == 0`, and the last batch of a loader with a length steps
    as well. The resulting weights differ from before, as intended.

    Shown only: a step at the last batch where only that is missing, because the schedule may rely
    on the present number of steps.

    No fix is offered for a count if `no_sync()` is in the same loop, because its condition would
    have to change too.

    ## References

    - [PyTorch: no_sync](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    - [Accelerate: Gradient synchronization](https://huggingface.co/docs/accelerate/concept_guides/gradient_synchronization)
    """

    code = "DST308"
    name = "grad-accumulation"
    severity = Severity.WARNING
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="Forward and backward inside no_sync",
            code="""\
import contextlib
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batches = torch.ones(5, 1, 2)
for index, batch in enumerate(batches):
    last = (index + 1) % 2 == 0 or index + 1 == len(batches)
    with contextlib.nullcontext() if last else model.no_sync():
        loss = model(batch).mean() / 2
        loss.backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Batches that do not fill a window are skipped",
            ranks=1,
            code="""\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(torch.ones(6, 2), batch_size=1)
n, windows, left = 4, 1, 0
for index, batch in enumerate(loader):
    window = index // n
    if window >= windows:
        continue
    (model(batch).mean() / n).backward()
    left += 1
    if (index + 1) % n == 0:
        optimizer.step()
        optimizer.zero_grad()
        left = 0
assert left == 0
""",
        ),
        Example(
            title="no_sync of FSDP takes effect in the backward",
            effect="static",
            why_static="it needs a GPU",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
model = FSDP(torch.nn.Linear(2, 1).cuda())
losses = [model(batch.cuda()).mean() for batch in torch.ones(2, 1, 2)]
with model.no_sync():
    losses[0].backward()
losses[1].backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Counted from one",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, batch in enumerate(torch.ones(4, 1, 2), start=1):
    (model(batch).mean() / 2).backward()
    if step % 2 == 0 or step == 4:
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
        Example(
            title="A scheduler that steps every second batch",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for step, batch in enumerate(torch.ones(4, 1, 2)):
    model(batch).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 2 == 0:
        schedule.step()
""",
        ),
    )

    bad = (
        Example(
            title="no_sync around the backward only",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))
loss = model(torch.ones(1, 2) * dist.get_rank()).mean()
with model.no_sync():  # expect: DST308
    loss.backward()
own = torch.ones(1, 2) * dist.get_rank()
assert torch.equal(model.module.weight.grad, own), "the gradients were sent all the same"
""",
        ),
        Example(
            title="no_sync around a function that runs the backward",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))


def step(batch, is_last):
    def forward():
        return model(batch).mean()

    def backward(loss):
        loss.backward()

    if is_last:
        backward(forward())
    else:
        loss = forward()
        with model.no_sync():  # expect: DST308
            backward(loss)


step(torch.ones(1, 2) * dist.get_rank(), is_last=False)
own = torch.ones(1, 2) * dist.get_rank()
assert torch.equal(model.module.weight.grad, own), "the gradients were sent all the same"
""",
        ),
        Example(
            title="no_sync around the backward of a micro-batch",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1, bias=False))
sent = []
model.register_comm_hook(None, lambda state, bucket: sent.append(1) or done(bucket.buffer()))


def done(buffer):
    future = torch.futures.Future()
    future.set_result(buffer)
    return future


for index, batch in enumerate(torch.ones(4, 1, 2)):
    if (index + 1) % 2:
        loss = model(batch).mean()
        loss = loss / 2
        with model.no_sync():  # expect: DST308
            loss.backward()
    else:
        (model(batch).mean() / 2).backward()
        model.zero_grad()
assert len(sent) == 2, f"sent {len(sent)} times in two windows"
""",
        ),
        Example(
            title="Windows of a loader",
            effect="fail",
            ranks=1,
            code="""\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(torch.ones(6, 2), batch_size=1)
windows, size = [], 0
for step, batch in enumerate(loader):
    (model(batch).mean() / 4).backward()
    size += 1
    if step % 4 == 0:  # expect: DST308
        optimizer.step()
        optimizer.zero_grad()
        windows.append(size)
        size = 0
assert windows == [4, 2], f"windows of {windows}"
""",
        ),
        Example(
            title="The last window of a loader",
            effect="fail",
            ranks=1,
            code="""\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(torch.ones(6, 2), batch_size=1)
waiting = 0
for step, batch in enumerate(loader):
    (model(batch).mean() / 4).backward()
    waiting += 1
    if (step + 1) % 4 == 0:  # expect: DST308
        optimizer.step()
        optimizer.zero_grad()
        waiting = 0
assert waiting == 0, f"{waiting} batches are lost"
""",
        ),
        Example(
            title="The first window has one batch",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
windows, size = [], 0
for step, batch in enumerate(torch.ones(8, 1, 2)):
    (model(batch).mean() / 4).backward()
    size += 1
    if step % 4 == 0:  # expect: DST308
        optimizer.step()
        optimizer.zero_grad()
        windows.append(size)
        size = 0
assert windows == [4, 4], f"windows of {windows}"
""",
        ),
        Example(
            title="The last window is not stepped",
            effect="fail",
            ranks=1,
            code="""\
import torch

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
waiting = 0
for step, batch in enumerate(torch.ones(6, 1, 2)):
    (model(batch).mean() / 4).backward()
    waiting += 1
    if (step + 1) % 4 == 0:  # expect: DST308
        optimizer.step()
        optimizer.zero_grad()
        waiting = 0
assert waiting == 0, f"{waiting} batches are lost"
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if _AUTO in module.tokens:
            yield from self._shrinking(objects_across(module, catalogue), locators, module)
        if "transformers" in module.imported_roots:
            yield from self._uncounted(objects_across(module, catalogue), locators, module)
        if not may_go_backward(module):
            return
        objects = objects_across(module, catalogue)
        found = {
            (site, message): finding
            for finding, site, message in self._found(objects, locators, module, catalogue)
        }
        yield from found.values()

    def _shrinking(self, objects: Objects, locators: Locators, module: Module) -> Iterator[Finding]:
        """Training arguments whose batch size may fall while the accumulation stays."""
        for site in objects.calls({"TrainingArguments", "Seq2SeqTrainingArguments"}):
            search = objects.argument(site, _AUTO)
            steps = objects.constant(
                objects.argument(site, "gradient_accumulation_steps"), site.point, 1
            )
            if objects.constant(search, site.point, default=False) is not True:
                continue
            if isinstance(steps, int) and steps > 1:
                yield self.finding(
                    message="batch size may shrink while accumulation steps stay fixed",
                    severity=Severity.INFO,
                    place=locators.of(module.key).place(site.call.site),
                    effect="the effective batch size, for which the learning rate was chosen, "
                    "depends on the free memory",
                    help="Find the batch size in a separate run, and set both",
                )

    def _uncounted(self, objects: Objects, locators: Locators, module: Module) -> Iterator[Finding]:
        """Losses of a Trainer's own that are told the number of items, and do not divide by it."""
        for cls in objects.classes.subclasses_of(
            "transformers.Trainer", "transformers.Seq2SeqTrainer"
        ):
            method = cls.methods.get("compute_loss")
            if method is None or not _makes_its_own(method) or _UNTOLD in module.tokens:
                continue
            finding = self.finding(
                message="`compute_loss` does not divide by `num_items_in_batch`",
                severity=Severity.INFO,
                place=locators.of(module.key).place(method.site),
                effect="with a model that accepts the number itself, the Trainer does not divide: "
                "the loss grows with `gradient_accumulation_steps`",
                help="Divide by `num_items_in_batch` if it is given",
            )
            yield replace(finding, preview=True)

    def _found(
        self, objects: Objects, locators: Locators, module: Module, catalogue: Catalogue
    ) -> Iterator[tuple[Finding, int, str]]:
        for mistake in _mistakes(objects):
            draft = Draft(locators.of(module.key), module, catalogue)
            finding = self.finding(
                message=mistake.message,
                severity=mistake.severity,
                place=locators.of(module.key).place(mistake.site),
                effect=mistake.effect,
                help=mistake.help,
                fix=partial(mistake.repair, draft),
            )
            yield replace(finding, preview=mistake.preview), mistake.site, mistake.message


Emptied = dict[int, "Path"]
"""What empties gradients, by the identity of the call, and of what."""


@dataclass(frozen=True, slots=True)
class _Mistake:
    site: int
    message: str
    effect: str
    help: str
    repair: Callable[[Draft], Fix]
    preview: bool = False
    is_info: bool = False

    @property
    def severity(self) -> Severity:
        return Severity.INFO if self.preview or self.is_info else Severity.WARNING


def _left_outside(left: no_sync.LeftOutside) -> _Mistake:
    return _Mistake(
        left.block.site,
        "`no_sync()` covers the backward but not the forward",
        "it has no effect: the gradients of every micro-batch are communicated",
        "Call the model inside `no_sync()` as well",
        partial(no_sync.with_forward, left),
    )


def _mistakes(objects: Objects) -> Iterator[_Mistake]:
    for backward in backwards(objects):
        yield from map(_left_outside, no_sync.around(backward, objects))
        yield from _mistakes_around(backward, objects)
    for backward in handed_over(objects):
        yield from _mistakes_around(backward, objects, is_scaled=True)
    yield from map(_left_outside, no_sync.by_functions(objects))
    yield from map(_lost, unprepared_steps(objects))
    if _MANAGED.isdisjoint(objects.module.words):
        yield from map(_lost, lost_windows(objects))
        yield from map(_lost, never_sent(objects, no_sync.is_no_sync))
        yield from map(_sent_always, always_sent(objects))


def _lost(lost: Lost) -> _Mistake:
    return _Mistake(lost.site, lost.message, lost.effect, lost.help, _not_composed)


def _sent_always(backward: CallSite) -> _Mistake:
    return _Mistake(
        backward.call.site,
        "gradients of every micro-batch are sent, not only those of a window",
        "DDP averages the gradients over the ranks in each backward pass: n times as often as "
        "the optimizer steps",
        "Call the model and go backward in `with model.no_sync():`, except for the last "
        "micro-batch of each window",
        _not_composed,
        is_info=True,
    )


def _not_composed(draft: Draft) -> Fix:
    raise CannotFix("where the gradients are meant to be sent or emptied is not known")


def _mistakes_around(
    backward: Backward, objects: Objects, *, is_scaled: bool = False
) -> Iterator[_Mistake]:
    """What goes wrong with the windows of a loop; ``is_scaled``: the loss may be."""
    if not _MANAGED.isdisjoint(objects.module.words):
        return
    loop = next(loops_around(backward.site.point), None)
    if isinstance(loop, ir.For):
        emptied = _emptied(objects, backward.site.point.scope)
        yield from _window_mistakes(backward, loop, objects, emptied)
        window = _window_of(loop, emptied)
        if not is_scaled and window is not None and not _is_divided(backward, window, objects):
            yield _Mistake(
                backward.site.call.site,
                "loss is not divided by the number of accumulated batches",
                "the gradients grow with that number, as if the learning rate did",
                "Divide the loss by that number, unless it is a sum",
                _not_repaired,
                preview=True,
            )


def _not_repaired(draft: Draft) -> Fix:
    raise CannotFix("the loss may be meant as a sum")


def _window_of(loop: ir.For, emptied: Emptied) -> frozenset[str] | None:
    """The names in the test behind which a loop steps and empties the gradients, now and then."""
    for statement, _ in placed(loop.body):
        if not isinstance(statement, ir.If):
            continue
        if not _ends_window(statement, emptied):
            continue
        test = statement.test
        for part in test.values if isinstance(test, ir.BoolOp) else (test,):
            if isinstance(part, ir.Compare):
                window = _window_in(part, loop)
                if window is not None:
                    return window
    return None


def _window_in(test: ir.Compare, loop: ir.For) -> frozenset[str] | None:
    """The names of the number in ``index % n == 0`` or ``count >= n``."""
    left = test.left
    if isinstance(left, ir.Binary) and left.op == "%":
        if isinstance(left.right, ir.Literal):
            return None if left.right.value == 1 else frozenset()
        return ir.tokens_of(left.right)
    if test.ops in ((">=",), ("==",)) and _counts_up(loop, path_of(left)):
        return ir.tokens_of(test.rights[0])
    return None


def _counts_up(loop: ir.For, count: Path | None) -> bool:
    return count is not None and any(
        isinstance(statement, ir.AugAssign) and path_of(statement.target) == count
        for statement, _ in placed(loop.body)
    )


def _is_divided(backward: Backward, window: frozenset[str], objects: Objects) -> bool:
    """May the gradients be those of a mean: by a division, or because the loss is a sum?"""
    function = backward.site.point.scope.function
    tokens = function.tokens if function is not None else objects.module.tokens
    if any(map(_SCALES.search, tokens)) or "sum" in objects.module.tokens:
        return True
    points = objects.points_in(backward.site.point.scope)
    loss = _made_of(ir.tokens_of(backward.loss), points)
    for point in points:
        statement = point.statement
        said = ir.tokens_of(statement)
        if loss.isdisjoint(said) or isinstance(statement, _BLOCKS):
            continue
        if isinstance(statement, ir.AugAssign) and statement.op.startswith(("/", "*")):
            return True
        if not window.isdisjoint(said) or any(
            isinstance(node, ir.Binary) and node.op in ("/", "*") for node in nodes_of(statement)
        ):
            return True
    return False


def _made_of(names: frozenset[str], points: Sequence[Point]) -> frozenset[str]:
    """These names, and those that they are made of."""
    found = set(names)
    for point in sorted(points, key=lambda each: -each.statement.site):
        statement = point.statement
        if isinstance(statement, ir.With) and statement.target is not None:
            if not found.isdisjoint(ir.tokens_of(statement.target)):
                found |= ir.tokens_of(statement.context)
        elif isinstance(statement, ir.Assign):
            if any(isinstance(each, ir.Name) and each.id in found for each in statement.targets):
                found |= {n.id for n in nodes_of(statement) if isinstance(n, ir.Name)}
    return frozenset(found)


def _makes_its_own(method: ir.Function) -> bool:
    """Does a ``compute_loss`` compute its loss, and leave out the number of items that it gets?"""
    named = {param.name for param in method.params if not param.star}
    rest = {param.name for param in method.params if param.star == "**"}
    if not rest and _ITEMS not in named:
        return False
    tokens = method.tokens
    if _ITEMS in tokens or not rest.isdisjoint(tokens) or "super" in tokens:
        return False
    returned = {
        name
        for statement, _ in placed(method.body)
        if isinstance(statement, ir.Return) and statement.value is not None
        for name in ir.tokens_of(statement.value)
    }
    return any(
        isinstance(statement, ir.Assign)
        and any(isinstance(t, ir.Name) and t.id in returned for t in statement.targets)
        and any(isinstance(node, ir.Binary) for node in nodes_of(statement))
        for statement, _ in placed(method.body)
    )


def _window_mistakes(
    backward: Backward, loop: ir.For, objects: Objects, emptied: Emptied
) -> Iterator[_Mistake]:
    test = _window_test(loop, emptied)
    if test is None or not _counts_batches(loop):
        return
    remainder, statement = test
    index = _index_of(loop)
    scope = backward.site.point.scope
    steps = [
        site.point
        for site in objects.calls_in(scope, {"step"})
        if _is_optimizer(site.call, set(emptied.values()))
    ]
    if path_of(remainder.left) == (index,) and _is_zero(statement.test):
        yield _Mistake(
            statement.site,
            f"`{index}` starts at 0: first window has a single batch",
            "the optimizer steps after a single batch, and all other windows are shifted",
            f"Test `({index} + 1) % n == 0`",
            partial(_counted_from_one, loop, statement, objects),
        )
        return
    inside = {id(each) for each, _ in placed(loop.body)}
    flushed = any(id(point.statement) not in inside for point in steps)
    tokens = ir.tokens_of(statement.test)
    if (
        not flushed
        and not _passes_over_the_rest(loop, index)
        and isinstance(statement.test, ir.Compare)
        and not any(map(_LAST.search, tokens))
    ):
        yield _Mistake(
            statement.site,
            "last, incomplete accumulation window is never stepped",
            "its gradients are lost, or added to the first window of the next epoch",
            "Step at the last batch as well: `or index + 1 == len(loader)`",
            partial(_with_the_last, loop, statement, objects),
            preview=True,
        )


def _passes_over_the_rest(loop: ir.For, index: str) -> bool:
    """Does the loop go on at once with batches behind the last window, by its number?"""
    windows = {
        ir.last_name(target)
        for statement in loop.body
        if isinstance(statement, ir.Assign)
        and isinstance(statement.value, ir.Binary)
        and statement.value.op == "//"
        and path_of(statement.value.left) == (index,)
        for target in statement.targets
    }
    return any(
        isinstance(statement, ir.If)
        and isinstance(statement.body[-1], (ir.Continue, ir.Break))
        and not windows.isdisjoint(ir.tokens_of(statement.test))
        for statement in loop.body
    )


def _require_no_other_count(loop: ir.For) -> None:
    """What is left unsynchronised by the count of batches would have to move with the step."""
    if not _SYNCS.isdisjoint(ir.tokens_of(loop)):
        raise CannotFix("which backward pass synchronises goes by the same count")


def _counted_from_one(loop: ir.For, test: ir.If, objects: Objects, draft: Draft) -> Fix:
    _require_no_other_count(loop)
    branch = draft.node(test.site, cst.If)
    if not isinstance(branch.test, cst.Comparison):
        raise CannotFix("the test is written in another way")
    remainder = branch.test.left
    if not isinstance(remainder, cst.BinaryOperation) or not isinstance(remainder.left, cst.Name):
        raise CannotFix("the test is written in another way")
    index = remainder.left.value
    draft.replace(remainder.left, f"({index} + 1)")
    with contextlib.suppress(CannotFix):  # a loop without a length
        _or_at_the_end(draft, branch, index, _length(loop, objects, draft))
    return draft.fix("unsafe", "Count the batches of a window from one")


def _with_the_last(loop: ir.For, test: ir.If, objects: Objects, draft: Draft) -> Fix:
    _require_no_other_count(loop)
    index = _index_of(loop)
    if not index:
        raise CannotFix("the count does not start from zero")
    branch = draft.node(test.site, cst.If)
    _or_at_the_end(draft, branch, index, _length(loop, objects, draft))
    return draft.fix("displayonly", "Step at the last batch as well")


def _or_at_the_end(draft: Draft, branch: cst.If, index: str, length: str) -> None:
    end = draft.bounds(branch.test)[1]
    draft.splice(end, end, f" or {index} + 1 == {length}")


def _length(loop: ir.For, objects: Objects, draft: Draft) -> str:
    """How many turns a loop over ``enumerate(loader)`` takes."""
    node = draft.node(loop.site, cst.For).iter
    if isinstance(node, cst.Call) and names.dotted(node.func) == "enumerate" and node.args:
        loader = names.dotted(node.args[0].value)
        if loader is not None and _LOADER.search(loader):
            if "IterableDataset" not in objects.module.words:
                return f"len({loader})"
    raise CannotFix("the number of turns is not known")


def _window_test(loop: ir.For, emptied: Emptied) -> tuple[ir.Binary, ir.If] | None:
    """The test ``... % n == 0`` of a loop behind which the optimizer steps and is emptied."""
    for statement, _ in placed(loop.body):
        if not isinstance(statement, ir.If) or not isinstance(statement.test, ir.Compare):
            continue
        left = statement.test.left
        if not (isinstance(left, ir.Binary) and left.op == "%"):
            continue
        if isinstance(left.right, ir.Literal) and left.right.value == 1:
            continue
        if _ends_window(statement, emptied):
            return left, statement
    return None


def _ends_window(branch: ir.If, emptied: Emptied) -> bool:
    """Does an optimizer step in the branch, and are its gradients emptied for the next window?

    With a backward pass after they are emptied, it is an update with gradients of its own.
    """
    calls = [item for inner, _ in placed(branch.body) for item in calls_of(inner)]
    emptying = [call for call in calls if id(call) in emptied]
    if not emptying:
        return False
    after = calls[calls.index(emptying[0]) :]
    if not BACKWARD.isdisjoint(ir.last_name(call.func) for call in after):
        return False
    return any(_is_optimizer(call, {emptied[id(each)] for each in emptying}) for call in calls)


def _emptied(objects: Objects, scope: Scope) -> Emptied:
    """The calls of a function that empty gradients, and the objects whose these are."""
    found = method_calls(objects, scope, "zero_grad")
    return {id(site.call): path_of(node) or () for site, node in found}


def _is_optimizer(call: ir.Call, emptied: Collection[Path]) -> bool:
    """Is it the step of an optimizer, and not of a scheduler: by its name, or as it is emptied?"""
    if ir.last_name(call.func) != "step" or not isinstance(call.func, ir.Attribute):
        return False
    path = path_of(call.func.value)
    if path is None:
        return False
    return path in emptied or re.search(r"opt|scaler|accelerator", path[-1], re.I) is not None


def _is_zero(test: ir.Expr) -> bool:
    return (
        isinstance(test, ir.Compare)
        and test.ops == ("==",)
        and isinstance(test.rights[0], ir.Literal)
        and test.rights[0].value == 0
    )


def _counts_batches(loop: ir.For) -> bool:
    """Does the loop go through ``enumerate(loader)``?"""
    return "enumerate" in ir.tokens_of(loop.iterable)


def _index_of(loop: ir.For) -> str:
    """The count that starts from zero; empty when it starts elsewhere."""
    for item in expressions_in(loop.iterable):
        if isinstance(item, ir.Call) and ir.last_name(item.func) == "enumerate":
            starts = len(item.args) > 1
            target = loop.target.items[0] if isinstance(loop.target, ir.Display) else None
            if not starts and isinstance(target, ir.Name):
                return target.id
    return ""
