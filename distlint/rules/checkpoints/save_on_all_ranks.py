"""DST406: every rank writes the same file."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.guards.paths import is_own
from distlint.analyzer.static.guards.samples import is_of_sample
from distlint.analyzer.static.names import placed
from distlint.fixers.draft import Draft
from distlint.rules.base import Example, SourceRule
from distlint.rules.checkpoints._all_ranks import LOOKS_FOR_FILE, on_all_ranks
from distlint.rules.checkpoints._emptied import emptied_by_all
from distlint.rules.checkpoints._failures import keeps_failure
from distlint.rules.checkpoints._locks import is_locked
from distlint.rules.checkpoints._rank_0_write import fix_of
from distlint.rules.checkpoints._writers import (
    is_checkpoint,
    names_in,
    path_written,
    written_to,
)
from distlint.rules.checkpoints._written_text import Written, modes_of
from distlint.source.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.guards.guards import Guards
    from distlint.analyzer.static.objects.sites import CallSite
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_READS = frozenset({"load", "open", "load_file", "from_pretrained", "read_text"})
_LOCAL = frozenset({"local_rank", "LOCAL_RANK"})
_GLOBAL = re.compile(
    r"^(global_|world_|node_|group_)?rank$|^get_(global_)?rank$|RANK$|main|master|node|is_rank|zero"
)


class SaveOnAllRanks(SourceRule):
    """All ranks write a checkpoint to the same path.

    ```python
    for epoch in range(epochs):
        train(model, loader)
        torch.save(model.module.state_dict(), "last.pt")
    ```

    ## Use instead

    ```python
    for epoch in range(epochs):
        train(model, loader)
        if dist.get_rank() == 0:
            torch.save(model.module.state_dict(), "last.pt")
        dist.barrier()  # if the other ranks read it afterwards
    ```

    State that differs between ranks belongs in separate files: `f"state_{rank}.pt"`.

    ## Why is this bad?

    The ranks open, truncate and write one file at the same time. At best, the file of the slowest
    rank remains; otherwise the file is corrupted, and the next resume fails with
    `failed finding central directory`. A rank that reads the file back may find it half written.

    ## What is reported

    `torch.save` (also `torch.jit.save` and safetensors' `save_file` and `save_model`) that all
    ranks call with a path that is the same on all ranks. In preview, with severity info: a save in
    a check of the local rank, which one rank of each node passes.

    With severity info: other data, as by `json.dump`, `numpy.save`, `to_csv`, `save_to_disk`,
    `save_pretrained` or `shutil.copytree`, also if it is serialized first, and text:
    `file.write(json.dumps(results))`, `file.write(f"{loss}")`, `csv.writer(file).writerow(row)`;
    images, figures and sound (`Image.save`, `plt.savefig`, `cv2.imwrite`, `soundfile.write`);
    `h5py.File`, `numpy.memmap`, `zipfile.ZipFile` and `tarfile.open` with a mode that writes; and a
    file that all ranks open with mode `w` while only one of them writes. Hooks of a
    `TrainerCallback` of transformers, such as `on_save`, are called on all ranks, and so are those
    of Lightning's modules, data modules and callbacks, except `prepare_data`, where a `Trainer` is
    made for several devices.

    ## What is not reported

    - A rank check around the call, or of a flag that is set in one; an early return of the other
      ranks; a decorator such as `@rank_zero_only`; or a check in the callers of the function, in
      this file and in others.
    - The path contains the rank, a number computed from it (`step = rank + total`), a process id
      or a random name, or is an in-memory buffer.
    - The path is made with what a batch of a loader holds, such as the names of its samples.
    - Functions that decide themselves which rank writes: `accelerator.save`,
      `trainer.save_checkpoint`, `torch.distributed.checkpoint`, `save_pretrained` with a
      `save_function`.
    - A loop that skips existing files: this divides the work between the ranks.
    - A subclass for distributed runs overrides the method and checks the rank.
    - Other data that is appended to a file, constant text and single files that are copied.
    - Writes under a file lock: `with FileLock(path):`.
    - The process fails in the same branch, such as one for a loss that is not finite, or an
      exception handler: it saves what led to its failure. An exit after the training is no
      failure, whatever its status.
    - Nothing shows that several processes run this code, neither in the file nor in files of the
      project that call it.

    ## Fix safety

    Unsafe: the statement, with the block that opens the file for it, moves into a rank check. A
    barrier may be needed afterwards. Not offered if the function reads, moves or copies the file,
    if all ranks have opened it before, or for `save_pretrained`, in which all ranks gather a
    sharded model.

    ## References

    - [DDP tutorial: save and load checkpoints](https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html)
    - [torch.save](https://docs.pytorch.org/docs/stable/generated/torch.save.html)
    """

    code = "DST406"
    name = "save-on-all-ranks"
    severity = Severity.ERROR
    exceptions = (Severity.INFO,)
    words = ("torch.save(",)
    shared = (
        r"\b(?:im|m?vol|mim)?save\(",
        r"\bsave(?:_file|_model|_image|_npz|_pretrained|_to_disk|fig|mat|txt|z|z_compressed)\(",
        r"\b(?:safe_)?dump(?:_all)?\(",
        r"\bwrite(?:lines|r|row|rows|header|_text|_bytes|_all|_batch)?\(",
        r"\bwrite_(?:feather|file|image|jpeg|png|table|video|point_cloud|triangle_mesh)\(",
        r"\b(?:im|mim|m?vol)write\(",
        r"\bprint\(.*\bfile\s*=",
        r"\bcopytree\(",
        r"\bmake_archive\(",
        r"memmap\(",
        r"\bappend_data\(",
        r"\b(?:h5py|zipfile|tarfile)\b",
        r"\bto_?(?:csv|excel|feather|file|hdf|json|orc|parquet|pickle|stata)\(",
    )

    good = (
        Example(
            title="Only rank 0 writes",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
model = torch.nn.Linear(2, 2)
if dist.get_rank() == 0:
    torch.save(model.state_dict(), "model.pt")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A flag that only rank 0 sets",
            code="""\
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
parts, owns_all = [], False
for seed in range(2):
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, seed + dist.get_rank())
    if dist.get_rank() == 0:
        parts.append(gathered)
        owns_all = True
if owns_all:
    torch.save(parts, "parts.pt")
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The guard is in the caller",
            code="""\
import torch
import torch.distributed as dist


def save(model, path):
    torch.save(model.state_dict(), path)


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 2)
    is_main = dist.get_rank() == 0
    if is_main:
        save(model, "model.pt")
    dist.barrier()
    dist.destroy_process_group()


main()
""",
        ),
        Example(
            title="The other ranks have returned",
            code="""\
import torch
import torch.distributed as dist


def report(value):
    total = torch.tensor(value)
    dist.all_reduce(total)
    if dist.get_rank() != 0:
        return
    torch.save({"total": total}, "total.pt")


dist.init_process_group("gloo")
report(1.0)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A file for each rank",
            code="""\
import os
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
os.makedirs("states", exist_ok=True)
name = f"rng_{dist.get_rank()}.pt"
path = os.path.join("states", name)
torch.save(torch.get_rng_state(), path)
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="A buffer in memory",
            code="""\
import io
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
out = io.BytesIO()
torch.save({"rank": dist.get_rank()}, out)
gathered = [None] * dist.get_world_size()
dist.all_gather_object(gathered, out.getvalue())
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="All ranks write different values to one file",
            effect="fail",
            code="""\
import time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
loss = torch.tensor(1.0 + rank)
time.sleep(0.3 * rank)
torch.save({"loss": loss}, "last.pt")  # expect: DST406
dist.barrier()
if rank == 0:
    assert torch.load("last.pt", weights_only=True)["loss"] == loss, "of another rank"
dist.destroy_process_group()
""",
        ),
        Example(
            title="A helper that all ranks call",
            effect="fail",
            code="""\
import time
import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.best = float("inf")

    def validate(self, loss):
        if loss < self.best:
            self.best = loss
            self.save("best")
        if self.rank == 0:
            print("validated")

    def save(self, tag):
        time.sleep(0.3 * self.best)
        torch.save({"best": self.best}, f"checkpoint_{tag}.pt")  # expect: DST406


dist.init_process_group("gloo")
trainer = Trainer(dist.get_rank())
trainer.validate(1.0 + dist.get_rank())
dist.barrier()
kept = torch.load("checkpoint_best.pt", weights_only=True)["best"]
assert dist.get_rank() != 0 or kept == trainer.best, "of another rank"
dist.destroy_process_group()
""",
        ),
        Example(
            title="A guard that is not called",
            effect="fail",
            code="""\
import time
import torch
import torch.distributed as dist


def is_main_process():
    return dist.get_rank() == 0


dist.init_process_group("gloo")
time.sleep(0.3 * dist.get_rank())
value = 1.0 + dist.get_rank()
if is_main_process:
    torch.save({"value": value}, "value.pt")  # expect: DST406
dist.barrier()
if is_main_process():
    assert torch.load("value.pt", weights_only=True)["value"] == value, "of another rank"
dist.destroy_process_group()
""",
        ),
    )

    def _on_each_node(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """Saves behind a test of the local rank: one writer for each node, not one in all."""
        names = catalogue.writes.names
        if _LOCAL.isdisjoint(module.tokens) or names.isdisjoint(module.tokens):
            return
        guards = guards_of(module, catalogue)
        for site in guards.objects.calls(names):
            if not is_checkpoint(guards.objects, site) or not _asks_local_rank(guards, site):
                continue
            path = path_written(guards.objects, site)
            if path is None or is_own(guards, path, site.point):
                continue
            finding = self.finding(
                message="one rank of each node writes to the same file",
                severity=Severity.INFO,
                place=locators.of(module.key).place(site.call.site),
                effect="the file is corrupted if several nodes share the file system",
                help="Check the global rank, unless each node has its own disk",
            )
            yield replace(finding, preview=True)

    def _emptied(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        """Files that all ranks open, and with that empty, for one that writes."""
        for site in emptied_by_all(module, catalogue):
            yield self.finding(
                message="all ranks open this file to write, and so empty it; not all of them write",
                severity=Severity.INFO,
                place=locators.of(module.key).place(site.call.site),
                effect="a rank that comes later empties the file of what has been written",
                help="Open it on the rank that writes",
            )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        yield from self._on_each_node(module, catalogue, locators)
        yield from self._emptied(module, catalogue, locators)
        names = names_in(module, catalogue)
        for site, guards in on_all_ranks(module, catalogue, names, fits=written_to):
            written = written_to(guards, site)
            if written is None or is_own(guards, written.file, written.point):
                continue
            path = written.file
            if is_of_sample(guards, path, written.point):
                continue
            if _is_shared_work(site, path) or keeps_failure(guards, site):
                continue
            if is_locked(guards, site.point):
                continue
            is_data = not is_checkpoint(guards.objects, site)
            if is_data and _is_added_to(guards, written):
                continue
            yield self.finding(
                message=f"all ranks write to the same file with `{site.name}`",
                severity=Severity.INFO if is_data else Severity.ERROR,
                place=locators.of(module.key).place(site.call.site),
                effect="the file is corrupted, or holds the data of the slowest rank",
                help="Write on rank 0 only, or include the rank in the file name",
                fix=partial(
                    fix_of,
                    guards,
                    site,
                    written,
                    Draft(locators.of(module.key), module, catalogue),
                ),
            )


def _is_added_to(guards: Guards, written: Written) -> bool:
    """Is a file opened to append to it?"""
    return any("a" in mode for mode in modes_of(guards, written))


def _is_shared_work(site: CallSite, path: ir.Expr) -> bool:
    """Does a loop pass over the files that are there, so that the ranks divide the work by them?"""
    names = ir.tokens_of(path)
    for here in site.point.around:
        for earlier in here.block[: here.index]:
            if isinstance(earlier, ir.If) and names & ir.tokens_of(earlier.test):
                leaves = any(isinstance(each, ir.Continue) for each, _ in placed(earlier.body))
                if leaves and not LOOKS_FOR_FILE.isdisjoint(ir.tokens_of(earlier.test)):
                    return True
    return False


def _asks_local_rank(guards: Guards, site: CallSite) -> bool:
    """Does a test around a call, or a function that it asks, look at the local rank alone?"""
    for here in site.point.around:
        if not isinstance(here.owner, ir.If) or here.block is not here.owner.body:
            continue
        tokens = set(ir.tokens_of(here.owner.test))
        for function in guards.names.module.functions:
            if function.name in tokens:
                tokens = (tokens - {function.name}) | function.tokens
        if tokens & _LOCAL and not any(_GLOBAL.search(each) for each in tokens - _LOCAL):
            return True
    return False
