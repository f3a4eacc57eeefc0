"""DST118: the result of a collective is read where it is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import calls, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._following import path_of, shown
from distlint.rules.collectives._issued import Issued, issued, issued_by_functions
from distlint.rules.collectives._no_gradient import without_gradient
from distlint.rules.collectives._none_result import is_none_used
from distlint.rules.collectives._partial_result import partial_read, root_of
from distlint.rules.collectives._returned_result import dropped
from distlint.rules.collectives._temporary import is_given_list, is_lost
from distlint.source.finding import Finding, Fix, Related, Severity

if TYPE_CHECKING:
    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document


class MisusedCollectiveResult(SourceRule):
    """The result of a collective is read from the wrong place or on the wrong rank.

    ```python
    loss = dist.all_reduce(loss)  # returns None
    print(loss.item())
    ```

    ## Use instead

    ```python
    dist.all_reduce(loss)
    print(loss.item())
    ```

    Read the tensor that you passed in. If all ranks need the result, use `all_reduce` or
    `all_gather`. If one rank needs it, read it only on the destination rank.

    ## Why is this bad?

    A return value of `None` fails at the next use, or is passed along. The other kinds raise no
    error. What is left in a temporary is gone, and each rank continues with its own value. After a
    `reduce`, the other ranks hold partial sums that look like results. A decision based on them
    ("is this the best loss?") makes the ranks diverge.

    ## What is reported

    - The return value of a collective that works in place: `x = dist.all_reduce(x)` is `None`. The
      same holds for `broadcast`, `all_gather`, `reduce`, `gather`, `scatter` and their object
      versions. An error, if the value is used.
    - A list that is passed where `all_reduce`, `broadcast` or `all_gather` takes one tensor. An
      error.
    - A tensor that nothing refers to: `dist.all_reduce(total * 4)`, `dist.all_reduce(x.float())`,
      `dist.all_reduce(torch.tensor(x))`. A warning.
    - The tensor of `dist.reduce`, or the list of `dist.gather`, read on all ranks, where the value
      decides a branch or is printed. A warning, placed at the read.
    - A tensor that a model has made, and that `all_gather` or `all_gather_into_tensor` collects for
      the loss, where nothing else of it is used: what is gathered has no gradient. A warning.
    - The result of a collective that returns it, dropped while the argument is read afterwards:
      `accelerator.reduce(total)`. Also for Horovod and `torch.distributed.nn`.

    ## What is not reported

    - The value is read under a check for the destination rank, or passed on, for example to
      `broadcast` or a logger.
    - A temporary that is made of constants or of the rank alone, as in
      `dist.all_reduce(torch.zeros(1).cuda())`: a way to meet. A `clone()`, as in a benchmark. One
      that only the source of a broadcast sends.
    - The tensor is used in the loss besides, or put among the gathered ones. The gather is in code
      without gradients.
    - The destination is not a literal number, or the read is not in straight-line code after the
      call.
    - The return value is stored and never used, or only compared with `None`; or a function that
      reduces its parameter returns it and no caller uses it.
    - The collective returns its result (`accelerator.reduce`, `torch.distributed.nn`, Ignite's
      `idist`).
    - With `async_op=True`, the return value is the handle to wait for.

    ## Fix safety

    Safe: if the result is assigned to the tensor that was passed in, the assignment is removed:
    `loss = dist.all_reduce(loss)` becomes `dist.all_reduce(loss)`.

    Unsafe: a `reduce` whose result all ranks read becomes an `all_reduce`, which causes about twice
    the traffic.

    ## References

    - [PyTorch: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    """

    code = "DST118"
    name = "misused-collective-result"

    good = (
        Example(
            title="The result is read on the destination rank",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
total = torch.tensor(1.0 + rank)
dist.reduce(total, dst=0)
if rank == 0:
    print(f"mean {total.item() / dist.get_world_size()}")
dist.destroy_process_group()
""",
        ),
        Example(
            title="The tensor that was passed in is read",
            code="""\
import torch
import torch.distributed as dist


def mean(tensor):
    dist.all_reduce(tensor)
    return tensor / dist.get_world_size()


dist.init_process_group("gloo")
print("mean =", mean(torch.tensor(float(dist.get_rank()))).item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Reduced to one rank, then broadcast to all",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor(1.0 + dist.get_rank())
dist.reduce(total, dst=0)
dist.broadcast(total, src=0)
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="Calls that return the result",
            needs=("accelerate",),
            code="""\
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
value = torch.tensor([1.0 + accelerator.process_index])
value = accelerator.reduce(value, reduction="sum")
parts = accelerator.gather(value)
print("parts =", parts.tolist())
""",
        ),
        Example(
            title="The handle of an asynchronous call",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.ones(1)
work = dist.all_reduce(total, async_op=True)
work.wait()
print("total =", total.item())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="all_reduce returns None",
            effect="fail",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.tensor(1.0 + dist.get_rank())
loss = dist.all_reduce(loss)  # expect: DST118
print("loss =", loss.item() / dist.get_world_size())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A temporary is reduced",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
hits = torch.tensor(1 + dist.get_rank())
dist.all_reduce(hits.float())  # expect: DST118
print("hits =", hits.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A reduced value that is read on all ranks",
            effect="wrong data",
            ranks=4,
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
total = torch.tensor(1.0 + dist.get_rank())
dist.reduce(total, dst=0, op=dist.ReduceOp.SUM)
mean = total.item() / dist.get_world_size()  # expect: DST118
print("mean =", mean)
dist.destroy_process_group()
""",
        ),
        Example(
            title="A gathered list that is read on all ranks",
            effect="wrong data",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
score = torch.tensor([1.0 + rank])
scores = [torch.zeros(1) for _ in range(world)]
dist.gather(score, scores if rank == 0 else None, dst=0)
best = torch.cat(scores).max()  # expect: DST118
print("best =", best.item())
dist.destroy_process_group()
""",
        ),
        Example(
            title="broadcast_object_list returns None",
            effect="fail",
            code="""\
import torch.distributed as dist

dist.init_process_group("gloo")
config = {"lr": 0.1} if dist.get_rank() == 0 else None
config = dist.broadcast_object_list([config], src=0)  # expect: DST118
print(f"learning rate {config[0]['lr']}")
dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        for use in issued(module, catalogue):
            if is_given_list(use):
                yield self._given_list(use, module, locators)
            if use.is_async is not False:
                continue
            if is_none_used(use):
                yield self._nothing_returned(use, module, locators)
            elif is_lost(use):
                yield self._lost(use, module, locators)
            elif use.row.result == "root_only":
                site = partial_read(use)
                if site is not None:
                    yield self._read_everywhere(use, site, module, locators)
        for use in issued_by_functions(module, catalogue):
            if use.is_async is False and use.row.result == "root_only":
                site = partial_read(use)
                if site is not None:
                    yield self._read_everywhere(use, site, module, locators)
        if "all_gather" in module.tokens or "all_gather_into_tensor" in module.tokens:
            for gathered, trained in without_gradient(objects_across(module, catalogue)):
                yield self._without_gradient(gathered, trained, locators)
        if not module.tokens.isdisjoint(("reduce", "allreduce", "all_reduce", "grouped_allreduce")):
            for use, site in dropped(objects_across(module, catalogue)):
                yield self._dropped(use, site, module, locators)

    def _without_gradient(self, gathered: CallSite, trained: Point, locators: Locators) -> Finding:
        place = locators.of(trained.scope.module.key).place(trained.statement.site)
        return self.finding(
            message=f"`{gathered.name}` has no gradient, and only what it gathers is trained by",
            severity=Severity.WARNING,
            place=locators.of(gathered.point.scope.module.key).place(gathered.call.site),
            related=(Related("trained by here", place),),
            effect="the model learns nothing through this tensor",
            help="Put the own part back, `gathered[rank] = tensor`, or use "
            "`torch.distributed.nn.functional.all_gather`",
        )

    def _dropped(self, use: Issued, site: int, module: Module, locators: Locators) -> Finding:
        locator = locators.of(module.key)
        name = shown(path_of(use.argument(use.row.payload)) or ("the argument",))
        return self.finding(
            message=f"`{use.op}` returns its result and leaves `{name}` alone",
            severity=Severity.WARNING,
            place=locator.place(use.call.site),
            related=(Related(f"`{name}` is read", locator.place(site)),),
            effect="the ranks continue with their own values",
            help=f"Assign the result: `{name} = ...{use.op}({name}, ...)`",
        )

    def _nothing_returned(self, use: Issued, module: Module, locators: Locators) -> Finding:
        param = use.row.result_param
        return self.finding(
            message=f"`{use.op}` returns None; the result is in `{param}`",
            severity=Severity.ERROR,
            place=locators.of(module.key).place(use.call.site),
            effect="all ranks continue with None instead of the result",
            help=f"Call `{use.op}` as a statement, and read the argument `{param}` afterwards",
            fix=lambda: self._without_target(
                use, Draft(locators.of(module.key), module, _known(use))
            ),
        )

    def _given_list(self, use: Issued, module: Module, locators: Locators) -> Finding:
        return self.finding(
            message=f"`{use.op}` takes one tensor, and is given a list",
            severity=Severity.ERROR,
            place=locators.of(module.key).place(use.call.site),
            effect="torch raises a TypeError on all ranks",
            help="Call it once for each tensor",
        )

    def _lost(self, use: Issued, module: Module, locators: Locators) -> Finding:
        return self.finding(
            message=f"`{use.op}` leaves its result in a temporary",
            severity=Severity.WARNING,
            place=locators.of(module.key).place(use.call.site),
            effect="the ranks continue with their own values",
            help="Give it a name first, and read that afterwards",
        )

    def _without_target(self, use: Issued, draft: Draft) -> Fix:
        call = draft.node(use.call.site, cst.Call)
        statement = draft.parent(call)
        path = path_of(use.buffer)
        if not isinstance(statement, cst.Assign) or len(statement.targets) != 1 or path is None:
            raise CannotFix("the result goes elsewhere")
        if draft.text(statement.targets[0].target) != shown(path):
            raise CannotFix("the result has another name")
        draft.replace(statement, draft.text(call))
        return draft.fix("safe", f"Call `{use.op}` without using its return value")

    def _for_all(self, use: Issued, draft: Draft) -> Fix:
        call = draft.node(use.call.site, cst.Call)
        if (
            use.inner
            or use.row.name != "torch.distributed.reduce"
            or not isinstance(call.func, cst.Attribute)
        ):
            raise CannotFix("another call would take other arguments")
        names.rename(draft, call.func, "all_reduce")
        given = [
            found
            for name, position in (("dst", 1), ("group_dst", None))
            if (found := calls.argument(call, name, position)) is not None
        ]
        if len(given) != 1 or any(arg.keyword is None for arg in call.args[2:]):
            raise CannotFix("the arguments are not clear")
        calls.remove_argument(draft, call, given[0])
        return draft.fix("unsafe", "Use `all_reduce` instead of `reduce`")

    def _read_everywhere(
        self, use: Issued, site: int, module: Module, locators: Locators
    ) -> Finding:
        locator = locators.of(module.key)
        root = root_of(use)
        everywhere = "all_reduce" if use.row.kind == "reduce" else "all_gather"
        return self.finding(
            message=f"result of `{use.op}` is on rank {root} only, but all ranks read it",
            severity=Severity.WARNING,
            place=locator.place(site),
            related=(Related(f"`{use.op}` to rank {root}", locator.place(use.call.site)),),
            effect="the other ranks continue with stale data or a partial result",
            help=f"Use `{everywhere}`, or read the result on rank {root} only",
            fix=lambda: self._for_all(use, Draft(locator, module, _known(use))),
        )


def _known(use: Issued) -> Catalogue:
    return use.names.catalogue
