"""DST624: a model that is wrapped already is wrapped once more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.names import calls_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.analyzer.static.reaching_definitions import path_of
from distlint.rules.base import Example, SourceRule, related
from distlint.rules.gradients._steps import exclude
from distlint.rules.training import DDP
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.objects.sites import Origin
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.catalogue.entries import Entry
    from distlint.source.document import Document


class WrappedTwice(SourceRule):
    """A model that is wrapped already is given to another wrapper.

    ```python
    model = DistributedDataParallel(model)
    model, optimizer = accelerator.prepare(model, optimizer)  # bad: wraps it again
    ```

    ## Use instead

    ```python
    model, optimizer = accelerator.prepare(model, optimizer)
    ```

    ## Why is this bad?

    Both wrappers communicate: each gradient is sent twice in every step. The keys of a checkpoint
    start with `module.module.`, and what unwraps the model takes off one wrapper of the two, so
    that loading raises an error, or nothing is loaded with `strict=False`. DeepSpeed and FSDP
    shard what a wrapper has already recorded, which fails or trains wrongly.

    ## What is reported

    A wrapper that is given a model that another one has returned: `DistributedDataParallel`
    around a wrapper of any kind, and a `DistributedDataParallel` that is given to
    `accelerator.prepare`, `deepspeed.initialize`, `fabric.setup`, FSDP or, in the same function,
    `DataParallel`.

    ## What is not reported

    - A model that is wrapped on some ways only, such as under `if args.ddp:`.
    - FSDP inside FSDP, or an FSDP model that is given to `accelerator.prepare`, which takes it as
      it is.
    - What the same object has prepared before: `accelerator.prepare` returns it unchanged.
    - A model that is taken out of its wrapper in between.
    - An attribute whose first value is not in sight, or is not wrapped.

    ## Fix safety

    None: which of the two wrappers is meant is not known.

    ## References

    - [Accelerate: prepare](https://huggingface.co/docs/accelerate/package_reference/accelerator#accelerate.Accelerator.prepare)
    - [PyTorch: DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "DST624"
    name = "wrapped-twice"
    severity = Severity.WARNING

    good = (
        Example(
            title="Wrapped by one of two",
            ranks=1,
            code="""\
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 1)
if os.environ.get("PLAIN_DDP"):
    model = DDP(model)
else:
    model = DDP(model, broadcast_buffers=False)
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Taken out of its wrapper before",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
model(torch.ones(1, 2)).sum().backward()
model = DDP(model.module, find_unused_parameters=True)
model(torch.ones(1, 2)).sum().backward()
dist.destroy_process_group()
""",
        ),
        Example(
            title="FSDP inside FSDP",
            effect="static",
            why_static="it needs a GPU",
            code="""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
block = FSDP(torch.nn.Linear(2, 2).cuda())
model = FSDP(block)
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="DDP inside DDP",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(2, 1))
model = DDP(model, find_unused_parameters=True)  # expect: DST624
model(torch.ones(1, 2)).sum().backward()
plain = torch.nn.Linear(2, 1)
plain.load_state_dict(model.module.state_dict())
""",
        ),
        Example(
            title="DDP that is prepared once more",
            effect="static",
            why_static="Accelerate wraps nothing in a single process",
            code="""\
import torch
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel

accelerator = Accelerator()
model = torch.nn.Linear(2, 1).to(accelerator.device)
model = DistributedDataParallel(model, device_ids=[accelerator.local_process_index])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = accelerator.prepare(model, optimizer)  # expect: DST624
accelerator.backward(model(torch.ones(1, 2)).sum())
optimizer.step()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for site, first in _replicated(objects):
            yield self.finding(
                message=f"a model that `{ir.last_name(first.call.func)}` has wrapped is given to "
                "`DataParallel`",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                related=(related("already wrapped here", first, locators),),
                effect="each process copies the wrapper to all GPUs of the node, and the copies do "
                "not average gradients",
                help="Wrap the model in `DistributedDataParallel` alone",
            )
        for site, wrapper in _wraps(objects):
            before = next(_wrapped_before(objects, site, wrapper), None)
            if before is None:
                continue
            yield self.finding(
                message=f"a model that `{before.name}` has wrapped is wrapped again",
                severity=Severity.WARNING,
                place=locator.place(site.call.site),
                related=(related("already wrapped here", before, locators),),
                effect="both wrappers communicate the gradients, and the keys of checkpoints have "
                "two prefixes",
                help="Wrap the model once",
            )


def _replicated(objects: Objects) -> Iterator[tuple[CallSite, CallSite]]:
    """The calls of ``DataParallel`` that are given a model in DDP on all ways, and its wrap."""
    for site in objects.calls_to("torch.nn.parallel.DataParallel"):
        given = objects.argument(site, "module", 0).value
        origins = objects.origins(given, site.point) if given is not None else ()
        wraps = [
            each.site
            for each in origins
            if each.site is not None and not each.attributes and each.site.call is not site.call
        ]
        others = [each for each in origins if each.call is not site.call]
        if len(wraps) == len(others) and all(objects.is_call_to(each, *DDP) for each in wraps):
            if wraps and all(_comes_first(each.point, site.point) for each in wraps):
                yield site, wraps[0]


def _comes_first(one: Point, two: Point) -> bool:
    """Is a statement run before another of its function?"""
    return (
        one.scope is two.scope and one.statement.site < two.statement.site and not exclude(one, two)
    )


def _wraps(objects: Objects) -> Iterator[tuple[CallSite, Entry]]:
    """The calls that wrap a model, and what is known of each."""
    for point in objects.points:
        for call in calls_of(point.statement):
            wrapper = _wrapper(objects, CallSite(call, point))
            if wrapper is not None:
                yield CallSite(call, point), wrapper


def _wrapper(objects: Objects, site: CallSite) -> Entry | None:
    entry = objects.catalogue.lookup(objects.called(site))
    made = entry.collective if entry is not None else None
    return entry if made is not None and made.kind == "wrap" and made.form != "around" else None


def _wrapped_before(objects: Objects, site: CallSite, wrapper: Entry) -> Iterator[CallSite]:
    """The calls that wrapped what a wrapper is given, if it is wrapped on all ways to it."""
    for argument in site.call.args:
        found = () if argument.star else objects.origins(argument.value, site.point)
        inner = [
            _wrapping(objects, origin, wrapper)
            for origin in found
            if origin.node is not site.call and not _rewraps(origin, argument.value, site.point)
        ]
        for each in inner[:1]:
            if each is not None and None not in inner:
                yield each


def _rewraps(origin: Origin, node: ir.Expr, point: Point) -> bool:
    """Does another method, or the other arm of an ``if``, make an attribute from itself?

    ``self.model = DDP(self.model)`` is given what another statement has assigned before.
    """
    function = origin.point.scope.function
    is_made_before = function is not None and function.name == "__init__"
    if is_made_before or not isinstance(origin.node, ir.Call):
        return False
    if origin.point.scope is point.scope and not exclude(origin.point, point):
        return False
    path = path_of(node)
    if path is None or (len(path) == 1 and origin.point.scope is not point.scope):
        return False  # variables of two functions may be called the same
    return any(path_of(each.value) == path for each in origin.node.args)


def _wrapping(objects: Objects, origin: Origin, outer: Entry) -> CallSite | None:
    """The call that wrapped a model which another wrapper should not be given."""
    node = origin.node
    if not isinstance(node, ir.Call) or origin.attributes:
        return None
    site = CallSite(node, origin.point)
    inner = _wrapper(objects, site)
    if inner is None or (inner.name == outer.name and inner.cls is None):
        return None
    if inner.cls is None:  # it may have returned something else than the model
        return site if outer.cls is not None and not outer.cls.nests else None
    return None if inner.cls.nests and (outer.cls is None or outer.cls.nests) else site
