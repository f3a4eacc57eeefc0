"""DST508: an environment variable is set when whoever reads it has done so."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.guards.guards import guards_of
from distlint.analyzer.static.objects.objects import objects_across
from distlint.analyzer.static.objects.sites import CallSite
from distlint.rules.base import Example, SourceRule
from distlint.rules.setup._cuda_start import starts_cuda
from distlint.rules.setup._order import inits, surely_before, surely_ran, torch_collectives
from distlint.source.finding import Finding, Related, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.environment import Written
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_AT_IMPORT = frozenset({"TORCH_DISTRIBUTED_DEBUG"})
_TORCH = frozenset({"torch"})
_HUB = frozenset({"huggingface_hub", "transformers", "datasets", "diffusers"})
_DATASETS = frozenset({"datasets"})
_AT_IMPORT_OF = {
    "HF_HOME": _HUB, "HF_HUB_CACHE": _HUB, "HUGGINGFACE_HUB_CACHE": _HUB, "HF_ENDPOINT": _HUB,
    "HF_HUB_OFFLINE": _HUB, "HF_DATASETS_CACHE": _DATASETS, "HF_DATASETS_OFFLINE": _DATASETS,
}  # fmt: skip
"""What libraries read into constants when they are imported."""
_OF_RENDEZVOUS = frozenset({"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"})
_AT_INIT = _OF_RENDEZVOUS | {"GLOO_SOCKET_IFNAME"}
_AT_CUDA = frozenset(
    {
        "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS",
        "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    }
)  # fmt: skip
_CHILDREN = frozenset(
    {
        "spawn", "Process", "subprocess", "Popen", "start_processes", "notebook_launcher", "launch",
        "system", "execv", "execvp", "execvpe", "elastic_launch", "debug_launcher", "run",
        "check_call", "check_output",
    }
)  # fmt: skip
_STARTS = frozenset({"spawn", "Process", "Popen", "start_processes", "elastic_launch"})
_NO_TRAFFIC = frozenset(
    {"init", "group_creation", "mesh_creation", "destroy", "backward", "forward"}
)
_OF_COMMUNICATORS = frozenset(
    {"NCCL_ALGO", "NCCL_PROTO", "NCCL_COLLNET_ENABLE", "NCCL_SHARP_DISABLE"}
)
"""What NCCL reads for each communicator, and so again for a group that is made later."""

_MAKES_GROUPS = re.compile(
    r"(?:new|create|build|make|initialize|init(?!_process_group)).*(?:group|mesh|parallel)",
    re.IGNORECASE,
)
"""Names of functions that may make groups, also in files that are not at hand."""
_MORE_GROUPS = frozenset({"group_creation", "mesh_creation"})
_WRAPS = ("torch.nn.parallel.DistributedDataParallel", "torch.distributed.fsdp.fully_shard")


class EnvAfterUse(SourceRule):
    """An environment variable is set after it has been read.

    ```python
    import os
    import torch.distributed as dist

    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"  # bad: torch has read it on import
    dist.init_process_group("nccl")
    ```

    ## Use instead

    ```python
    import os

    os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"

    import torch.distributed as dist

    dist.init_process_group("nccl")
    ```

    Or set the variable in the shell. `TORCH_DISTRIBUTED_DEBUG=DETAIL` checks collectives and raises
    on a mismatch; it does not log them, unless `TORCH_CPP_LOG_LEVEL=INFO` is set as well. In torch
    2.13 without CUDA, `DETAIL` crashes `DistributedDataParallel`; `INFO` does not.

    ## Why is this bad?

    Each of these variables is read once. Setting it later has no effect, and nothing warns about
    it: the debug level stays off, or the wrong network interface stays in use.

    ## What is reported

    `os.environ[...] = ...` after the code that reads the variable, in the same function, at the
    top level of the file, or in functions of the file that are called in this order:

    - `TORCH_DISTRIBUTED_DEBUG` after the import of torch; `HF_HOME`, `HF_HUB_OFFLINE` and the like
      after the import of a library of Hugging Face, which then uses the other cache;
    - `MASTER_ADDR`, `RANK`, `TORCH_NCCL_*` and the like after `init_process_group`;
    - `NCCL_*` after the first collective;
    - `CUDA_*` and `PYTORCH_CUDA_ALLOC_CONF` after the first use of CUDA.

    ## What is not reported

    - The file, or a base class of the class, starts other processes, which read the variable at
      their start; unless it is set in the function of a process that the file spawns.
    - It is not certain that the read comes first: it is in a branch, or in a function that another
      file calls.
    - The file reads the variable again: `dist.set_debug_level_from_env()`.
    - The process group is initialized with a URL or a store (`init_method="tcp://..."`) and does
      not read `MASTER_ADDR`.
    - NCCL reads the variable for each communicator (`NCCL_ALGO`, `NCCL_PROTO`,
      `NCCL_COLLNET_ENABLE`, `NCCL_SHARP_DISABLE`), and the file creates process groups later, which
      use the new value.

    ## Fix safety

    None: where to set the variable before the imports is the author's choice.

    ## References

    - [torch.distributed: environment variables](https://docs.pytorch.org/docs/stable/distributed.html#common-environment-variables)
    - [ProcessGroupNCCL environment variables](https://docs.pytorch.org/docs/stable/torch_nccl_environment_variables.html)
    - [NCCL environment variables](https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)
    """

    code = "DST508"
    name = "env-after-use"
    severity = Severity.WARNING

    good = (
        Example(
            title="Before the import",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            code="""\
import os

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"
os.environ["NCCL_DEBUG"] = "WARN"

import torch.distributed as dist

dist.init_process_group("gloo")
assert dist.get_debug_level() == dist.DebugLevel.INFO
dist.destroy_process_group()
""",
        ),
        Example(
            title="For the communicators of process groups created later",
            code="""\
import os

import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
os.environ["NCCL_COLLNET_ENABLE"] = "0"
pairs = dist.new_group([0, 1])
dist.barrier(group=pairs)
dist.destroy_process_group()
""",
        ),
        Example(
            title="For the communicators of process groups that another package creates",
            effect="static",
            why_static="it needs Megatron",
            code="""\
import os

import torch.distributed as dist
from megatron.core.parallel_state import create_group


class Groups:
    def make(self, ranks):
        self.data = self.group_of(ranks)
        dist.barrier(group=self.data)
        os.environ["NCCL_COLLNET_ENABLE"] = "0"
        self.tensor = self.group_of(ranks)

    def group_of(self, ranks):
        return create_group(ranks)
""",
        ),
        Example(
            title="The process group does not use `MASTER_PORT`",
            code="""\
import os
import tempfile

import torch.distributed as dist

folder = os.environ.setdefault("MEETING_PLACE", tempfile.gettempdir())
port = os.environ["MASTER_PORT"]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo", f"file://{folder}/meet-{port}", rank=rank, world_size=size)
os.environ["MASTER_PORT"] = "29600"  # for what is started later
dist.barrier()
dist.destroy_process_group()
""",
        ),
        Example(
            title="Before the first collective of NCCL",
            code="""\
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
os.environ["NCCL_SOCKET_IFNAME"] = "lo"
dist.barrier()
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The debug level, after the import",
            effect="static",
            why_static="it needs a fresh interpreter: tests/executed/test_plain_python.py",
            code="""\
import os

import torch.distributed as dist

os.environ["TORCH_DISTRIBUTED_DEBUG"] = "INFO"  # expect: DST508
dist.init_process_group("gloo")
assert dist.get_debug_level() == dist.DebugLevel.INFO, "the level is as it was"
dist.destroy_process_group()
""",
        ),
        Example(
            title="After the first collective",
            effect="static",
            why_static="it needs NCCL",
            code="""\
import os

import torch
import torch.distributed as dist


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    dist.barrier()
    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"  # expect: DST508
    os.environ["NCCL_DEBUG"] = "INFO"  # expect: DST508
    dist.destroy_process_group()
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        tokens = module.tokens
        if "environ" not in tokens and "putenv" not in tokens:
            return
        starts = not _CHILDREN.isdisjoint(module.words)
        if not any(_is_late_kind(token) for token in tokens):
            return
        objects = objects_across(module, catalogue)
        locator = locators.of(module.key)
        for written in environment_writes(objects):
            if starts and not _is_in_worker(objects, written.point):
                continue
            reader = _reader(objects, written)
            if reader is not None and not _starts_others(objects, written.point):
                yield self.finding(
                    message=f"`{written.name}` is set after it was read",
                    severity=Severity.WARNING,
                    place=locator.place(written.point.statement.site),
                    related=(Related("read here", locator.place(reader)),),
                    effect="the setting is silently ignored",
                    help="Set it before the imports at the top of the script, or in the shell",
                )


def _is_in_worker(objects: Objects, point: Point) -> bool:
    """Is it in the function of a spawned process, which starts none itself?"""
    function = point.scope.function
    if function is None or not _CHILDREN.isdisjoint(function.tokens):
        return False
    return guards_of(objects.module, objects.catalogue).launchers.spawns(function)


def _starts_others(objects: Objects, point: Point) -> bool:
    """Does the object whose method sets it start processes, by a base from another file?"""
    cls = objects.module.class_of(point.scope.function) if point.scope.function else None
    return cls is not None and any(
        not _STARTS.isdisjoint(method.tokens)
        for each in objects.module.lineage(cls.name)
        for method in each.methods.values()
    )


_READ_AGAIN = "set_debug_level_from_env"


def _is_late_kind(token: str) -> bool:
    if token.startswith(("NCCL_", "TORCH_NCCL_")) or token in _AT_IMPORT_OF:
        return True
    return token in _AT_IMPORT | _AT_INIT | _AT_CUDA


def _reader(objects: Objects, written: Written) -> int | None:
    """The site of what has read a variable in any case before it is set."""
    if written.name in _AT_IMPORT:
        if _READ_AGAIN in objects.module.tokens and written.name == "TORCH_DISTRIBUTED_DEBUG":
            return None
        return _import_of(objects, written, _TORCH)
    if written.name in _AT_IMPORT_OF:
        return _import_of(objects, written, _AT_IMPORT_OF[written.name])
    if written.name in _OF_RENDEZVOUS:
        readers = filter(partial(_reads_rendezvous, objects), inits(objects))
        return _first_before(objects, written, readers)
    if written.name in _AT_INIT or written.name.startswith("TORCH_NCCL_"):
        return _first_before(objects, written, inits(objects))
    if written.name.startswith("NCCL_"):
        if written.name in _OF_COMMUNICATORS and _groups_follow(objects, written):
            return None
        return _first_before(objects, written, _collectives(objects))
    if written.name in _AT_CUDA:
        return _first_before(objects, written, _cuda(objects))
    return None


def _reads_rendezvous(objects: Objects, init: CallSite) -> bool:
    """Is the address that of the environment, and not that of an URL or a store?"""
    method = objects.argument(init, "init_method", 1)
    stored = objects.argument(init, "store", 5)
    url = objects.constant(method, init.point)
    by_default = url is None or (isinstance(url, str) and url.startswith("env://"))
    return by_default and stored.value is None


def _first_before(objects: Objects, written: Written, sites: Iterable[CallSite]) -> int | None:
    ran = (site for site in sites if surely_ran(objects, site.point, written.point))
    return next((site.call.site for site in ran), None)


def _import_of(objects: Objects, written: Written, roots: frozenset[str]) -> int | None:
    """The import of a library at the top of the file; a function runs after it in any case."""
    inside = written.point.scope.function is not None
    for statement in objects.module.body:
        if isinstance(statement, ir.Import) and any(
            dotted.partition(".")[0] in roots for _, dotted, _ in statement.bindings
        ):
            if inside or statement.site < written.point.statement.site:
                return statement.site
    return None


def _collectives(objects: Objects) -> Iterator[CallSite]:
    """What makes NCCL start: the first collective, or a wrap that sends the weights."""
    yield from objects.calls_to(*_WRAPS)
    for site, kind in torch_collectives(objects):
        if kind not in _NO_TRAFFIC:
            yield site


def _groups_follow(objects: Objects, written: Written) -> bool:
    """May a group be made when a variable is set already?"""
    helpers = {name for name in objects.called_names if _MAKES_GROUPS.search(name)}
    if any(not surely_before(site.point, written.point) for site in objects.calls(helpers)):
        return True
    return any(
        kind in _MORE_GROUPS and not surely_before(site.point, written.point)
        for site, kind in torch_collectives(objects)
    )


def _cuda(objects: Objects) -> Iterator[CallSite]:
    for call, point in objects.nodes(ir.Call):
        site = CallSite(call, point)
        if starts_cuda(objects, site):
            yield site
