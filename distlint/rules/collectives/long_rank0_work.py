"""DST121: one rank works for long while the others wait for it in a collective."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.rank_tests import asks_rank
from distlint.analyzer.static.names import calls_of, placed
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.collectives._issued import collective_of
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document
_TIMEOUTS = frozenset({"timeout", "ddp_timeout", "InitProcessGroupKwargs", "timedelta"})
_REGIONS = frozenset({"main_process_first", "local_main_process_first"})
_OF_A_MAP = frozenset({"batched", "num_proc", "remove_columns", "load_from_cache_file"})
_TRANSFERS = frozenset(
    {
        "upload_file", "upload_folder", "upload_large_folder", "push_to_hub", "snapshot_download",
        "download_and_prepare",
    }
)  # fmt: skip
_FACTORS = frozenset({"eigh", "eig", "svd", "eigvalsh", "svdvals"})
_NEXT = 3
"""How many statements behind the work a collective may stand."""


class LongRank0Work(SourceRule):
    """One rank runs a long task while the other ranks wait for it in a collective.

    ```python
    dist.init_process_group("nccl")
    if rank == 0:
        raw.map(tokenize, batched=True, num_proc=8)
    dist.barrier()  # times out after 10 minutes
    ```

    ## Use instead

    ```python
    dist.init_process_group("nccl", timeout=timedelta(hours=2))
    if rank == 0:
        raw.map(tokenize, batched=True, num_proc=8)
    dist.barrier()
    ```

    Set a timeout that is long enough (`timeout=`, `ddp_timeout`, `InitProcessGroupKwargs`), run the
    task in a separate job before the training, or split it between the ranks.

    ## Why is this bad?

    The other ranks are in the collective all the time. After the timeout (10 minutes with NCCL, 30
    minutes with the other backends and in the Trainer of transformers), they end the job, on the
    first dataset that is large enough.

    ## What is reported

    `Dataset.map`, an upload or download of a whole repository, or matrix factorizations in a loop,
    that rank 0 runs alone right before a collective, or that one process runs first in
    `main_process_first()`, in a file that sets no timeout.

    In preview, with severity info: whether it takes too long depends on the data.

    ## What is not reported

    - The file mentions a timeout.
    - The task is not known to take long: a checkpoint of a small model, a table of results.

    ## Fix safety

    None: the code does not show how long the task takes.

    ## References

    - [PyTorch: init_process_group](https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group)
    - [Transformers: Trainer](https://huggingface.co/docs/transformers/main_classes/trainer)
    """

    code = "DST121"
    name = "long-rank0-work"
    severity = Severity.INFO
    preview = True

    good = (
        Example(
            title="Each rank computes a part",
            code="""\
import torch
import torch.distributed as dist


def spectra(matrices, rank, world):
    found = torch.zeros(len(matrices))
    for index in range(rank, len(matrices), world):
        found[index] = torch.linalg.eigh(matrices[index])[0].max()
    dist.all_reduce(found)
    return found


dist.init_process_group("gloo")
print(spectra([torch.eye(2)] * 3, dist.get_rank(), dist.get_world_size()))
dist.destroy_process_group()
""",
        ),
        Example(
            title="A longer timeout",
            effect="static",
            why_static="it needs a dataset",
            code="""\
from datetime import timedelta

import torch.distributed as dist


def prepare(raw, tokenize):
    dist.init_process_group("nccl", timeout=timedelta(hours=2))
    if dist.get_rank() == 0:
        raw.map(tokenize, batched=True, num_proc=8)
    dist.barrier()
    return raw.map(tokenize, batched=True, num_proc=8)
""",
        ),
    )

    bad = (
        Example(
            title="The other ranks wait while rank 0 tokenizes",
            effect="static",
            why_static="it needs a dataset that takes more than ten minutes",
            code="""\
import torch.distributed as dist


def prepare(raw, tokenize):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        raw.map(tokenize, batched=True, num_proc=8)  # expect: DST121
    dist.barrier()
    return raw.map(tokenize, batched=True, num_proc=8)
""",
        ),
        Example(
            title="A map in main_process_first",
            effect="static",
            why_static="it needs a dataset that takes more than ten minutes",
            code="""\
from transformers import TrainingArguments


def prepare(raw, tokenize, args: TrainingArguments):
    with args.main_process_first():
        return raw.map(tokenize, batched=True)  # expect: DST121
""",
        ),
        Example(
            title="Factorizations on rank 0",
            effect="static",
            why_static="it needs matrices that take more than ten minutes",
            code="""\
import torch
import torch.distributed as dist


def spectra(matrices, total):
    if dist.get_rank() == 0:
        for matrix in matrices:
            total += torch.linalg.svd(matrix)[1].sum()  # expect: DST121
    dist.broadcast(total, src=0)
    return total
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if not module.tokens.isdisjoint(_TIMEOUTS):
            return
        if module.tokens.isdisjoint(_TRANSFERS | _FACTORS | _OF_A_MAP):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        seen: set[int] = set()
        for point in objects.points:
            for block, waiting in _alone(objects, point):
                work = _long_work(block)
                if work is not None and work.site not in seen:
                    seen.add(work.site)
                    name = ir.last_name(work.func)
                    yield self.finding(
                        message=f"the other ranks wait in a collective during this `{name}`",
                        severity=Severity.INFO,
                        place=locator.place(work.site),
                        related=(Related("the other ranks wait here", locator.place(waiting)),),
                        effect="the job times out if it takes too long (10 minutes with NCCL)",
                        help="Run it in a separate job, or increase the process group's timeout",
                    )


def _alone(objects: Objects, point: Point) -> Iterator[tuple[ir.Block, int]]:
    """The block that one rank runs while others wait, and where they do."""
    statement = point.statement
    if isinstance(statement, ir.With) and isinstance(statement.context, ir.Call):
        if ir.last_name(statement.context.func) in _REGIONS:
            yield statement.body, statement.site
    elif isinstance(statement, ir.If) and not statement.orelse and asks_rank(statement.test):
        here = point.around[-1]
        for after in here.block[here.index + 1 : here.index + 1 + _NEXT]:
            if _meets(objects, after, point):
                yield statement.body, after.site
                return


def _meets(objects: Objects, statement: ir.Stmt, point: Point) -> bool:
    """Is it a statement that a rank cannot pass alone?"""
    for call in calls_of(statement):
        if collective_of(objects, CallSite(call, point)) is not None:
            return True
        if ir.last_name(call.func) in ("barrier", "wait_for_everyone"):
            return True
    return False


def _long_work(block: ir.Block) -> ir.Call | None:
    """A call in a block that may take minutes."""
    for statement, around in placed(block):
        in_loop = any(isinstance(here.owner, (ir.For, ir.While)) for here in around)
        for call in calls_of(statement):
            name = ir.last_name(call.func)
            if name in _TRANSFERS or (name in _FACTORS and in_loop):
                return call
            keywords = {argument.keyword for argument in call.args}
            if name == "map" and not _OF_A_MAP.isdisjoint(keywords):
                return call
    return None
