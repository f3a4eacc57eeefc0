"""DST204: a loader that is given a sampler and, besides, told to shuffle."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer import ir
from distlint.analyzer.static.objects.objects import Objects, objects_across
from distlint.analyzer.static.objects.sites import Origin
from distlint.analyzer.static.reaching_definitions import Point
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.training import Made, draws_from, loaders, names_of, samplers
from distlint.source.finding import Finding, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class SamplerAndShuffle(SourceRule):
    """A `DataLoader` gets mutually exclusive options, such as a sampler and `shuffle=True`.

    ```python
    sampler = DistributedSampler(data) if distributed else None
    loader = DataLoader(data, batch_size=32, sampler=sampler, shuffle=True)
    ```

    ## Use instead

    ```python
    sampler = DistributedSampler(data) if distributed else None
    loader = DataLoader(data, batch_size=32, sampler=sampler, shuffle=sampler is None)
    ```

    `DistributedSampler` shuffles by default. Set `shuffle=` of the loader only without a sampler.

    ## Why is this bad?

    The constructor raises a `ValueError`. If only distributed runs have a sampler, the script works
    on one GPU and fails on the first run with two. A `DistributedSampler` without `shuffle=` always
    shuffles: a distributed run then has data in random order that one GPU reads in sequence.

    ## What is reported

    A `torch.utils.data.DataLoader` with `shuffle=True` and a `sampler=` that is not None, or with a
    `batch_sampler=` and one of `shuffle=True`, `sampler=`, `drop_last=True` or `batch_size`. With
    severity info: a `DistributedSampler` without `shuffle=`, if the loader uses a flag to decide
    whether to shuffle without a sampler.

    ## What is not reported

    - `shuffle` depends on the sampler, or is not a constant.
    - The sampler is None on every path to the loader, or its origin is unknown.

    ## Fix safety

    Safe: `shuffle=True` becomes `shuffle=sampler is None`, or is removed. With the sampler the call
    raises an error in any case, and without it the loader shuffles as before.

    Unsafe: the flag is passed to the sampler.

    ## References

    - [DataLoader](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader)
    - [DistributedSampler](https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.distributed.DistributedSampler)
    """

    code = "DST204"
    name = "sampler-and-shuffle"
    severity = Severity.ERROR
    exceptions = (Severity.INFO,)

    good = (
        Example(
            title="Shuffle only without a sampler",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
loader = DataLoader(data, batch_size=2, shuffle=(sampler is None), sampler=sampler)
print("batches =", len(loader))
dist.destroy_process_group()
""",
        ),
        Example(
            title="One loader for each case",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
sampler = None
if dist.get_world_size() > 1:
    sampler = DistributedSampler(data)
if sampler is None:
    loader = DataLoader(data, batch_size=2, shuffle=True, sampler=sampler)
else:
    loader = DataLoader(data, batch_size=2, sampler=sampler)
print("batches =", len(loader))
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The flag is used only without a sampler",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def loader_of(data, shuffle, many):
    sampler = DistributedSampler(data) if many else None  # expect: DST204
    return DataLoader(data, batch_size=4, shuffle=shuffle and sampler is None, sampler=sampler)


dist.init_process_group("gloo")
data = TensorDataset(torch.arange(64))
seen = [int(x) for (batch,) in loader_of(data, False, True) for x in batch]
assert seen == sorted(seen), "not in order"
dist.destroy_process_group()
""",
        ),
        Example(
            title="Fails with more than one process",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
sampler = DistributedSampler(data) if dist.get_world_size() > 1 else None
loader = DataLoader(data, batch_size=2, shuffle=True, sampler=sampler)  # expect: DST204
print("batches =", len(loader))
""",
        ),
        Example(
            title="A batch sampler has its own batch size",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.arange(8.0))
batches = BatchSampler(DistributedSampler(data), batch_size=2, drop_last=True)
loader = DataLoader(data, batch_size=2, batch_sampler=batches)  # expect: DST204
print("batches =", len(loader))
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if "DataLoader" not in module.words or module.tokens.isdisjoint(
            {"sampler", "batch_sampler"}
        ):
            return
        objects = objects_across(module, catalogue)
        for sampler, flag in _unasked(objects):
            yield self.finding(
                message=f"sampler ignores `{flag}` and always shuffles",
                severity=Severity.INFO,
                place=locators.of(module.key).place(sampler.call.site),
                effect="with several ranks, data is shuffled that must keep its order",
                help=f"Pass `shuffle={flag}` to the sampler",
                fix=partial(
                    _told, sampler, flag, Draft(locators.of(module.key), module, catalogue)
                ),
            )
        for loader in loaders(objects):
            clash = next(_clashes(loader), None)
            if clash is not None:
                draft = Draft(locators.of(module.key), module, catalogue)
                yield self.finding(
                    message=f"{clash} are mutually exclusive",
                    severity=Severity.ERROR,
                    place=locators.of(module.key).place(loader.options.call.site),
                    effect="`DataLoader` raises a `ValueError`",
                    help="Set the option in the sampler, and shuffle here only without a sampler",
                    fix=partial(_without_shuffle, loader, draft),
                )


def _unasked(objects: Objects) -> Iterator[tuple[Made, str]]:
    """Samplers that are not told whether to shuffle, and the flag that the loader asks instead."""
    for sampler in samplers(objects):
        held = set(names_of(sampler.site))
        if not held or not sampler.option("shuffle").absent:
            continue
        for loader in loaders(objects):
            asked = loader.option("shuffle").value
            if asked is None or loader.options.point.scope is not sampler.site.point.scope:
                continue
            if not draws_from(loader, sampler):
                continue
            flag = _flag_beside(asked, held)
            if flag and not _is_asked_around(sampler, flag):
                yield sampler, flag
                break


def _flag_beside(asked: ir.Expr, sampler: Collection[str]) -> str:
    """The flag in ``False if sampler else flag`` or ``flag and sampler is None``."""
    if isinstance(asked, ir.Conditional):
        tests: tuple[ir.Expr, ...] = (asked.test,)
        values: tuple[ir.Expr, ...] = (asked.body, asked.orelse)
    elif isinstance(asked, ir.BoolOp) and asked.op == "and":
        tests = values = asked.values
    else:
        return ""
    if not any(not ir.tokens_of(test).isdisjoint(sampler) for test in tests):
        return ""
    flags = [value.id for value in values if isinstance(value, ir.Name) and value.id not in sampler]
    return flags[0] if len(flags) == 1 else ""


def _is_asked_around(sampler: Made, flag: str) -> bool:
    """Is the sampler made only where the flag says so?"""
    point = sampler.site.point
    return flag in ir.tokens_of(point.statement) or any(
        isinstance(here.owner, ir.If) and flag in ir.tokens_of(here.owner.test)
        for here in point.around
    )


def _told(sampler: Made, flag: str, draft: Draft) -> Fix:
    call = draft.node(sampler.call.site, cst.Call)
    if not names.available(draft, flag, call):
        raise CannotFix("the flag may not be there yet")
    calls.add_argument(draft, call, f"shuffle={flag}")
    return draft.fix("unsafe", f"Pass `shuffle={flag}` to the sampler")


def _without_shuffle(loader: Made, draft: Draft) -> Fix:
    call = draft.node(loader.options.call.site, cst.Call)
    shuffle, sampler = calls.argument(call, "shuffle"), calls.argument(call, "sampler")
    if shuffle is None or sampler is None:
        raise CannotFix("the mutually exclusive options are not both written here")
    if isinstance(sampler.value, cst.Name):
        draft.replace(shuffle.value, f"{sampler.value.value} is None")
        return draft.fix("safe", "Shuffle only without a sampler")
    if None in _constants(loader, "sampler"):
        raise CannotFix("there may be no sampler, and then shuffling is right")
    calls.remove_argument(draft, call, shuffle)
    return draft.fix("safe", "Let the sampler shuffle")


def _clashes(loader: Made) -> Iterator[str]:
    if _is_given(loader, "batch_sampler") and None not in _constants(loader, "batch_sampler"):
        for name, default in (("shuffle", True), ("drop_last", True)):
            if loader.constant(name, False) is default:
                yield f"`batch_sampler` and `{name}=True`"
        if loader.constant("batch_size", 1) not in (1, None, ...):
            yield "`batch_sampler` and `batch_size`"
        if _is_given(loader, "sampler") and None not in _constants(loader, "sampler"):
            yield "`batch_sampler` and `sampler`"
    elif loader.constant("shuffle", False) is True and _is_given(loader, "sampler"):
        yield "`sampler` and `shuffle=True`"


def _is_given(loader: Made, name: str) -> bool:
    """Is an option something that a call made, on some way to the loader?"""
    return any(
        origin.call is not None and not _decided(loader.options.point, origin)
        for origin in loader.origins(name)
    )


def _constants(loader: Made, name: str) -> set[object]:
    return {origin.constant for origin in loader.origins(name)}


def _decided(point: Point, origin: Origin) -> bool:
    """Does a test around the loader look at what decides whether there is a sampler?"""
    deciding: set[str] = set()
    for here in origin.point.around:
        if isinstance(here.owner, ir.If):
            deciding |= ir.tokens_of(here.owner.test)
    statement = origin.point.statement
    if isinstance(statement, ir.Assign):
        deciding.update(t.id for t in statement.targets if isinstance(t, ir.Name))
    return any(
        isinstance(here.owner, ir.If)
        and here.owner not in [outer.owner for outer in origin.point.around]
        and not deciding.isdisjoint(ir.tokens_of(here.owner.test))
        for here in point.around
    )
