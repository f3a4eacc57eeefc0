"""DST305: one rank tries again while the others are still in the first attempt."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from distlint.analyzer.static.objects.objects import objects_across
from distlint.fixers import imports, names
from distlint.fixers.draft import CannotFix, Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.memory._retry import DECORATOR, Retried, retried, trains
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.requirements import is_source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_AUTO = "auto_find_batch_size"
_SEVERAL = frozenset(
    {
        "init_process_group", "DistributedDataParallel", "DDP", "FSDP", "LOCAL_RANK", "local_rank",
        "is_main_process", "is_local_main_process", "num_processes", "process_index", "gather",
        "gather_for_metrics", "wait_for_everyone", "main_process_first", "get_rank",
    }
)  # fmt: skip
"""Words of a script that is meant for several processes."""

_SHARDED = ("deepspeed", "fsdp")


class OomRetryUnsynced(SourceRule):
    """The batch size retry of a training function is not synchronized across ranks.

    ```python
    from accelerate.utils import find_executable_batch_size

    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):  # bad: one rank may retry alone
        accelerator.free_memory()
        model = accelerator.prepare(Net())
        for batch in batches(batch_size):
            accelerator.backward(model(batch).mean())
    ```

    ## Use instead

    ```python
    from distlint.runtime import find_executable_batch_size

    @find_executable_batch_size(starting_batch_size=64)
    def train(batch_size):
        accelerator.free_memory()
        model = accelerator.prepare(Net())
        for batch in batches(batch_size):
            accelerator.backward(model(batch).mean())
    ```

    The decorator of `distlint.runtime` has the same signature: the ranks agree that one of them
    failed, and retry with the same smaller batch together. Alternatively, find the batch size in a
    separate run and write it down.

    ## Why is this bad?

    Memory does not run out on all ranks in the same step. The rank that runs out of memory starts
    over with a smaller batch, while the others wait for it in a collective of the first attempt.
    Collectives of two different attempts are then matched with each other, and the run hangs or
    mixes up data. With DeepSpeed or FSDP, the engine of the failed attempt still wraps the model.

    ## What is reported

    - Accelerate's `find_executable_batch_size` around a function that trains, in a script for
      several processes.
    - `TrainingArguments(auto_find_batch_size=True)` together with DeepSpeed or FSDP.

    ## What is not reported

    - The decorator is the one of `distlint.runtime`.
    - The function does not train, such as a probe.
    - Nothing in the script indicates several processes.

    ## Fix safety

    Unsafe: the decorator of `distlint.runtime` is used. It destroys the process groups of a failed
    attempt and re-creates them, so groups and wrapped models that were created outside must not be
    used afterwards. Not offered in the repository of Accelerate itself.

    ## References

    - [Accelerate: Utilities](https://huggingface.co/docs/accelerate/package_reference/utilities)
    """

    code = "DST305"
    name = "oom-retry-unsynced"
    severity = Severity.INFO

    good = (
        Example(
            title="All ranks retry together",
            code="""\
import torch
import torch.distributed as dist
from distlint.runtime import find_executable_batch_size

dist.init_process_group("gloo")


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    model = torch.nn.Linear(2, 1)
    model(torch.ones(batch_size, 2)).mean().backward()
    return batch_size


print("size =", train())
dist.destroy_process_group()
""",
        ),
        Example(
            title="A single process",
            needs=("accelerate",),
            ranks=1,
            code="""\
import torch
from accelerate.utils import find_executable_batch_size


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):
    model = torch.nn.Linear(2, 1)
    model(torch.ones(batch_size, 2)).mean().backward()


train()
""",
        ),
    )

    bad = (
        Example(
            title="Memory runs out on one rank",
            effect="hang",
            needs=("accelerate",),
            code="""\
import torch
import torch.distributed as dist
from accelerate.utils import find_executable_batch_size

dist.init_process_group("gloo")


@find_executable_batch_size(starting_batch_size=8)
def train(batch_size):  # expect: DST305
    model = torch.nn.Linear(2, 1)
    loss = model(torch.ones(batch_size, 2)).mean()
    if batch_size == 8 and dist.get_rank() == 1:
        raise RuntimeError("CUDA out of memory.")
    loss.backward()
    size = torch.tensor(batch_size)
    dist.all_reduce(size)
    if batch_size < 8:
        dist.all_reduce(size)
    return batch_size


print("size =", train())
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if DECORATOR in module.words and not _SEVERAL.isdisjoint(module.words):
            for retry, objects in retried(module, catalogue):
                if not retry.synchronised and trains(retry.function, objects):
                    draft = Draft(locators.of(module.key), module, catalogue)
                    fix = partial(_fix, retry, draft)
                    yield self._finding(retry.function.site, "ranks", module, locators, fix)
        if _AUTO in module.tokens:
            for site in _sharded_searches(module, catalogue):
                yield self._finding(site, "sharded ranks", module, locators)

    def _finding(
        self,
        site: int,
        who: str,
        module: Module,
        locators: Locators,
        fix: Callable[[], Fix] | None = None,
    ) -> Finding:
        return self.finding(
            message=f"batch size retry is not synchronized across {who}",
            severity=Severity.INFO,
            place=locators.of(module.key).place(site),
            effect="when one rank runs out of memory, the others wait for it in another attempt",
            help="Use `distlint.runtime.find_executable_batch_size`, which retries on all ranks",
            fix=fix,
        )


def _fix(retry: Retried, draft: Draft) -> Fix:
    if is_source_of(draft.document.path, "accelerate"):
        raise CannotFix("the library shows its own decorator")
    function = draft.node(retry.function.site, cst.FunctionDef)
    for decorator in function.decorators:
        call = decorator.decorator
        callee = call.func if isinstance(call, cst.Call) else call
        if (names.dotted(callee) or "").rpartition(".")[2] == DECORATOR:
            if isinstance(callee, cst.Name) and _imported_alone(draft, callee.value):
                return draft.fix("unsafe", "Retry on all ranks together")
            ours = imports.imported(draft, draft.catalogue.runtime, DECORATOR, function)
            draft.replace(callee, ours)
            if isinstance(callee, cst.Name):
                imports.drop_if_stale(draft, callee.value, (callee,))
            return draft.fix("unsafe", "Retry on all ranks together")
    raise CannotFix("the decorator goes by another name")


def _imported_alone(draft: Draft, name: str) -> bool:
    """Take the name from the other library where one import brings it and nothing else."""
    found = [
        node
        for node in draft.nodes(cst.ImportFrom)
        if not isinstance(node.names, cst.ImportStar)
        and [(each.name.value, each.asname) for each in node.names] == [(name, None)]
    ]
    if len(found) != 1 or found[0].module is None:
        return False
    draft.replace(found[0].module, draft.catalogue.runtime)
    return True


def _sharded_searches(module: Module, catalogue: Catalogue) -> Iterator[int]:
    """Training arguments that search for a batch size under DeepSpeed or FSDP."""
    objects = objects_across(module, catalogue)
    for site in objects.calls({"TrainingArguments", "Seq2SeqTrainingArguments"}):
        if objects.constant(objects.argument(site, _AUTO), site.point, False) is not True:
            continue
        if any(not objects.argument(site, name).absent for name in _SHARDED):
            yield site.call.site
