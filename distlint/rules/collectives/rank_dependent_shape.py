"""DST106: a tensor whose size is a matter of its data goes into a collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import under_rank_test
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import Objects, objects_of
from distlint.analyzer.static.objects.sites import CallSite, Origin
from distlint.analyzer.static.reaching_definitions import Point, path_of
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._selections import Selection, agrees, selection
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_TORCH = {
    "all_reduce": 0, "broadcast": 0, "reduce": 0, "all_gather": 1, "gather": 0,
    "all_gather_into_tensor": 1,
}  # fmt: skip
_NAMES = ("tensor", "input_tensor", "input")
_LIBRARIES = ("torch.distributed", "deepspeed.comm")
_FILLED = frozenset(f"torch.{name}" for name in ("empty", "zeros", "ones", "full"))
_FROM_DATA = frozenset(
    f"torch.{name}" for name in ("tensor", "as_tensor", "LongTensor", "IntTensor", "FloatTensor")
)
_GROWS = frozenset({"append", "extend"})
_SHAPED = frozenset({"view", "reshape", "flatten", "squeeze"})
_PREPROCESS = "preprocess_logits_for_metrics"
_ACCELERATOR = ("accelerate.Accelerator.gather", "accelerate.Accelerator.reduce")
_PICKS = frozenset({"nonzero", "masked_select", "unique", "unique_consecutive", "argwhere"})
_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!="})
_SAME_SHAPE = frozenset({"to", "cuda", "cpu", "float", "detach", "contiguous", "clone", "half"})
_AGREES = frozenset({"pad_across_processes", "pad", "gather_variable", "pad_sequence"})


class RankDependentShape(SourceRule):
    """A tensor whose size depends on its data is passed to a collective.

    ```python
    kept = scores[scores > 0.5]  # a different length on each rank
    dist.all_gather(parts, kept)
    ```

    ## Use instead

    ```python
    kept = torch.where(scores > 0.5, scores, 0.0)
    dist.all_gather(parts, kept)
    ```

    Other ways to get the same size on all ranks: pad with `accelerator.pad_across_processes(x)`
    before the gather, use `distlint.runtime.gather_variable(x)`, or reduce a number that was
    computed from the tensor.

    ## Why is this bad?

    The ranks pass tensors of different sizes. NCCL hangs or mixes up memory. Gloo raises an error
    or returns uninitialized memory. A run that finishes is no proof that the result is correct.

    ## What is reported

    - `scores[scores > 0.5]`, `mask.nonzero()`, `x.unique()` and similar expressions, passed to
      `all_reduce`, `all_gather`, `gather` or their counterparts in Accelerate and DeepSpeed, or
      returned from `preprocess_logits_for_metrics`.
    - The same through variables, masks that have a name, `torch.cat` of a list of such tensors,
      helper functions and other files; and `boxes[nms(...)]`.
    - The output of `generate()`, passed to `accelerator.gather`.
    - A list that one rank fills in a loop and broadcasts into buffers of a fixed size.

    ## What is not reported

    - The tensor is padded or reduced to a scalar: `.sum()`, `.mean()`, `len()`.
    - `gather_for_metrics` of batches, which removes the padding; `gather_object`.
    - The index may be a number or a slice.
    - The function that calls the collective, or makes the tensor, has words for an agreed size: it
      pads, or has `sizes`, `lengths` and the like.
    - A collective comes before the broadcast in the same function: it may have shared the length.

    ## Fix safety

    None: the right value for padding depends on how the result is used.

    ## References

    - [PyTorch: all_gather](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather)
    - [Accelerate: pad_across_processes](https://huggingface.co/docs/accelerate/package_reference/accelerator)
    - [Transformers: Trainer](https://huggingface.co/docs/transformers/main_classes/trainer)
    """

    code = "DST106"
    name = "rank-dependent-shape"
    severity = Severity.WARNING

    good = (
        Example(
            title="A number from each rank",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
scores = torch.arange(4.0) + dist.get_rank()
picked = scores[scores > 2]
total = picked.sum()
dist.all_reduce(total)
first = scores[0]
dist.all_reduce(first)
dist.destroy_process_group()
""",
        ),
        Example(
            title="The length is sent first",
            code="""\
import torch
import torch.distributed as dist


def share(rows):
    if dist.get_rank() == 0:
        picked = []
        for row in rows:
            picked.append(row * 2)
        length = torch.tensor(len(picked))
    else:
        length = torch.tensor(0)
    dist.broadcast(length, src=0)
    if dist.get_rank() == 0:
        found = torch.tensor(picked)
    else:
        found = torch.empty(int(length), dtype=torch.int64)
    dist.broadcast(found, src=0)
    return found


dist.init_process_group("gloo")
print(share([1, 2, 3]).tolist())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Padded to the size of the buffer",
            code="""\
import torch
import torch.distributed as dist


def next_batch(queue, size):
    if dist.get_rank() == 0:
        picked = []
        for sample in queue[:size]:
            picked.append(sample)
        picked += [-1] * (size - len(picked))
        batch = torch.tensor(picked, dtype=torch.long)
    else:
        batch = torch.empty(size, dtype=torch.long)
    dist.broadcast(batch, src=0)
    return batch[batch != -1].tolist()


dist.init_process_group("gloo")
print(next_batch([4, 5, 6], 4))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="A selection by threshold",
            effect="hang",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
scores = torch.arange(4.0) + dist.get_rank()
picked = scores[scores > 2]
slots = [torch.zeros_like(picked) for _ in range(dist.get_world_size())]
dist.all_gather(slots, picked)  # expect: DST106
expected = torch.tensor([3.0, 4.0])
assert torch.equal(slots[1][:2], expected), slots
dist.destroy_process_group()
""",
        ),
        Example(
            title="Generated text",
            effect="static",
            why_static="it needs a language model",
            code="""\
from accelerate import Accelerator


def predict(model, loader):
    accelerator = Accelerator()
    model, loader = accelerator.prepare(model, loader)
    found = []
    for batch in loader:
        ids = model.generate(batch["input_ids"], max_new_tokens=64)
        found.append(accelerator.gather(ids))  # expect: DST106
    return found
""",
        ),
        Example(
            title="The last batch is shorter than the buffer",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist


def next_batch(queue, size):
    if dist.get_rank() == 0:
        picked = []
        for sample in queue[:size]:
            picked.append(sample)
        batch = torch.tensor(picked, dtype=torch.long).view(-1)
    else:
        batch = torch.empty(size, dtype=torch.long)
    dist.broadcast(batch, src=0)  # expect: DST106
    return batch.tolist()


dist.init_process_group("gloo")
found = next_batch([4, 5, 6], 4)
assert len(found) == 3, found
dist.destroy_process_group()
""",
        ),
        Example(
            title="preprocess_logits_for_metrics that changes the size",
            effect="static",
            why_static="it needs a language model",
            code="""\
from transformers import Trainer


def answers_only(logits, labels):
    answered = labels != -100
    return labels[answered]  # expect: DST106


def evaluate(model, args, data):
    trainer = Trainer(model, args, eval_dataset=data, preprocess_logits_for_metrics=answers_only)
    return trainer.evaluate()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        tokens = module.tokens
        is_meeting = not tokens.isdisjoint(_TORCH) and (
            not {"torch", "accelerate", "deepspeed"}.isdisjoint(module.imported_roots)
            or "accelerator" in tokens
        )
        if not is_meeting and _PREPROCESS not in tokens:
            return
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        for site in objects.calls(_TORCH) if is_meeting else ():
            payload, accelerate = _payload(objects, site)
            if payload is None:
                continue
            found = _made(objects, payload, site, accelerate=accelerate)
            if found is not None:
                where, source = found
                yield self.finding(
                    message="tensor size depends on the data and may differ between ranks",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    related=(
                        Related("tensor created here", locators.of(where.module.key).place(source)),
                    ),
                    effect="the collective hangs, fails or returns uninitialized memory",
                    help="Pad it to the same size on all ranks, or reduce a value computed from it",
                )
        for made in _gathered_by_trainer(objects) if _PREPROCESS in tokens else ():
            yield self.finding(
                message="Trainer gathers this tensor, whose size depends on the data",
                severity=Severity.WARNING,
                place=locator.place(made),
                effect="the evaluation hangs, fails or mixes up the predictions",
                help="Keep the shape, and fill in a value that the metric ignores, such as -100",
            )


def _made(
    objects: Objects, payload: ir.Expr, site: CallSite, *, accelerate: bool
) -> Selection | None:
    """The statement that gives what is passed a size that may differ, and its file."""
    for each in payload.items if isinstance(payload, ir.Display) and accelerate else (payload,):
        made = _varying(objects, each, site.point)
        if made is not None and agrees(objects, site.point.scope) and _has_met(objects, site):
            return None
        if made is None and accelerate:
            made = _generated(objects, each, site.point)
        if made is None and site.name == "broadcast":
            made = _grown(objects, each, site)
        if made is not None:
            return objects, made
        if site.name != "broadcast":
            found = selection(objects, each, site.point)
            if found is not None:
                return found
    return None


def _payload(objects: Objects, site: CallSite) -> tuple[ir.Expr | None, bool]:
    """What a collective is given, and whether it is one of Accelerate."""
    called = objects.called(site)
    if called in _ACCELERATOR or (called == "" and _is_accelerator(site)):
        return objects.argument(site, "tensor", 0).value, True
    if called in [f"{library}.{site.name}" for library in _LIBRARIES]:
        for name in _NAMES:
            value = objects.argument(site, name).value
            if value is not None:
                return value, False
        return objects.argument(site, "tensor", _TORCH[site.name]).value, False
    return None, False


def _is_accelerator(site: CallSite) -> bool:
    func = site.call.func
    return isinstance(func, ir.Attribute) and ir.last_name(func.value) == "accelerator"


def _origin(objects: Objects, node: ir.Expr, point: Point) -> tuple[ir.Expr, Point] | None:
    """The expression that made a value, if there is one alone, with moves left out."""
    found = objects.origins(node, point)
    if len(found) != 1 or found[0].item is not None or found[0].attributes:
        return None
    made = found[0].node
    if not isinstance(made, ir.Expr):
        return None
    while (
        isinstance(made, ir.Call)
        and isinstance(made.func, ir.Attribute)
        and made.func.attr in _SAME_SHAPE
    ):
        made = made.func.value
    return made, found[0].point


def _varying(objects: Objects, node: ir.Expr, point: Point) -> int | None:
    """The site of the statement in which a tensor gets a size that depends on its values."""
    if not _AGREES.isdisjoint(ir.tokens_of(point.statement)):
        return None
    found = _origin(objects, node, point)
    if found is None:
        return None
    made, where = found
    if isinstance(made, ir.Subscript):
        index = made.index
        if isinstance(index, ir.Display):
            return None
        mask = _origin(objects, index, where)
        tested = mask[0] if mask is not None else index
        if isinstance(tested, ir.Compare) and set(tested.ops) <= _COMPARES:
            if _is_elementwise(made.value, tested):
                return where.statement.site
    elif isinstance(made, ir.Call) and ir.last_name(made.func) in _PICKS:
        return where.statement.site
    return None


def _is_elementwise(value: ir.Expr, test: ir.Compare) -> bool:
    """Is it a comparison of a tensor, and not of numbers: ``x[x > 0]``, ``x[labels != -100]``?"""
    name = ir.last_name(value)
    compared = ir.last_name(test.left)
    return bool(compared) and (compared == name or len(compared) > 2)


def _generated(objects: Objects, node: ir.Expr, point: Point) -> int | None:
    if not _AGREES.isdisjoint(ir.tokens_of(point.statement)):
        return None
    found = _origin(objects, node, point)
    if found is None or not isinstance(found[0], ir.Call):
        return None
    return found[1].statement.site if ir.last_name(found[0].func) == "generate" else None


def _grown(objects: Objects, node: ir.Expr, site: CallSite) -> int | None:
    """Where one rank makes a tensor of a list that grows, for buffers of a size that is fixed."""
    origins = objects.origins(node, site.point)
    if len(origins) != 2 or _has_met(objects, site):
        return None
    makers = [_maker(objects, origin) for origin in origins]
    for origin, sent, received in zip(origins, makers, reversed(makers), strict=True):
        if sent is None or received is None or not under_rank_test(origin.point.around):
            continue
        if objects.called(received) in _FILLED and objects.called(sent) in _FROM_DATA:
            rows = sent.call.args[0].value if sent.call.args else None
            if isinstance(rows, ir.Name) and _grows(objects, rows.id, sent.point):
                return origin.point.statement.site
    return None


def _maker(objects: Objects, origin: Origin) -> CallSite | None:
    """The call that makes a tensor, without what it is moved and reshaped by."""
    made = origin.call
    while made is not None and isinstance(made.func, ir.Attribute):
        if made.func.attr not in _SHAPED | _SAME_SHAPE:
            break
        inner = made.func.value
        made = inner if isinstance(inner, ir.Call) else None
    return CallSite(made, origin.point) if made is not None else None


def _grows(objects: Objects, name: str, point: Point) -> bool:
    """Is a list longer after each turn of a loop, and neither measured nor filled up otherwise?"""
    in_loop = False
    for each in objects.points_in(point.scope):
        for call in calls_of(each.statement):
            if path_of(call.func) == ("len",) and name in ir.tokens_of(call):
                return False
        if not _extends(each.statement, name):
            continue
        if not any(isinstance(here.owner, (ir.For, ir.While)) for here in each.around):
            return False
        in_loop = True
    return in_loop


def _extends(statement: ir.Stmt, name: str) -> bool:
    if isinstance(statement, ir.AugAssign):
        return path_of(statement.target) == (name,)
    return any(
        isinstance(call.func, ir.Attribute)
        and call.func.attr in _GROWS
        and path_of(call.func.value) == (name,)
        for call in calls_of(statement)
    )


def _has_met(objects: Objects, site: CallSite) -> bool:
    """Is there a collective before this one in its function, which may have told the size?"""
    scope, here = site.point.scope, site.call.site
    for point in objects.points_in(scope):
        for call in calls_of(point.statement):
            entry = objects.names.entry(call.func, scope)
            if entry is not None and entry.collective is not None and call.site < here:
                return True
    return False


def _gathered_by_trainer(objects: Objects) -> Iterator[int]:
    """Where a function makes what the Trainer of transformers gathers with a size of its own."""
    seen: set[ir.Function] = set()
    for name in objects.called_names:
        for site in objects.calls({name}) if name.endswith("Trainer") else ():
            given = objects.argument(site, _PREPROCESS).value
            for origin in objects.origins(given, site.point) if given is not None else ():
                if isinstance(origin.node, ir.Function) and origin.node not in seen:
                    seen.add(origin.node)
                    if _AGREES.isdisjoint(origin.node.tokens):
                        yield from _returned(objects, origin.node)


def _returned(objects: Objects, function: ir.Function) -> Iterator[int]:
    for origin in objects.returns(function):
        node = origin.node
        for item in node.items if isinstance(node, ir.Display) else (node,):
            made = _varying(objects, item, origin.point) if isinstance(item, ir.Expr) else None
            if made is not None:
                yield made
                return
