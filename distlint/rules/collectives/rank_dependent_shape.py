"""DST106: a tensor whose size is a matter of its data goes into a collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.bindings import Point
from distlint.analyzer.objects import CallSite, Objects, objects_of
from distlint.rules.base import Example, SourceRule
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distlint.analyzer.positions import Locators
    from distlint.analyzer.project import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_TORCH = {
    "all_reduce": 0, "broadcast": 0, "reduce": 0, "all_gather": 1, "gather": 0,
    "all_gather_into_tensor": 1,
}  # fmt: skip
_NAMES = ("tensor", "input_tensor", "input")
_ACCELERATOR = ("accelerate.Accelerator.gather", "accelerate.Accelerator.reduce")
_PICKS = frozenset({"nonzero", "masked_select", "unique", "unique_consecutive", "argwhere"})
_COMPARES = frozenset({"<", ">", "<=", ">=", "==", "!="})
_SAME_SHAPE = frozenset({"to", "cuda", "cpu", "float", "detach", "contiguous", "clone", "half"})
_AGREES = frozenset({"pad_across_processes", "pad", "gather_variable", "pad_sequence"})


class RankDependentShape(SourceRule):
    """A tensor that is as long as its data make it is handed to a collective.

    ## What it finds

    `scores[scores > 0.5]`, `mask.nonzero()`, `x.unique()` and their kind, given to `all_reduce`,
    `all_gather`, `gather` or their counterparts in Accelerate; what `generate()` returns, given to
    `accelerator.gather`.

    ## Why it matters

    The ranks hand over tensors of different sizes. NCCL then hangs or mixes up memory; gloo raises,
    or returns memory that nobody has written. That a run goes through proves nothing.

    ## What to do

    Make them one size first: `accelerator.pad_across_processes(x)` and then gather,
    `distlint.runtime.gather_variable(x)`, or reduce a number that was computed from them.

    ## Fix

    None: what is put in for the missing values depends on what is done with them.

    ## When it is silent

    - The tensor is padded, or a scalar is made of it: `.sum()`, `.mean()`, `len()`.
    - `gather_for_metrics` of batches, which takes the padding off; `gather_object`.
    - The index may be a number or a slice.
    """

    code = "DST106"
    name = "rank-dependent-shape"
    severity = Severity.WARNING

    good = (
        Example(
            title="A number of each rank",
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
    )

    bad = (
        Example(
            title="As many as there are above a threshold",
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
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        tokens = module.tokens
        if tokens.isdisjoint(_TORCH) or not {"torch", "accelerate"} & module.imported_roots:
            return
        objects = objects_of(module, catalogue)
        locator = locators.of(module.key)
        for site in objects.calls(_TORCH):
            payload, accelerate = _payload(objects, site)
            made = _varying(objects, payload, site.point) if payload is not None else None
            if made is None and payload is not None and accelerate:
                made = _generated(objects, payload, site.point)
            if made is not None:
                yield self.finding(
                    message="the size of this tensor is a matter of its data, and so may differ "
                    "between the ranks",
                    severity=Severity.WARNING,
                    place=locator.place(site.call.site),
                    related=(Related("made here", locator.place(made)),),
                    effect="it hangs, fails, or returns memory that nobody has written",
                    advice="Pad it to one size, or reduce a number made of it.",
                )


def _payload(objects: Objects, site: CallSite) -> tuple[ir.Expr | None, bool]:
    """What a collective is given, and whether it is one of Accelerate."""
    called = objects.called(site)
    if called in _ACCELERATOR or (called == "" and _is_accelerator(site)):
        return objects.argument(site, "tensor", 0).value, True
    if called == f"torch.distributed.{site.name}":
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
