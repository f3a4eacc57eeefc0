"""DST506: the port of the rendezvous is written down in the script."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from distlint.analyzer import ir
from distlint.analyzer.static.environment import environment_writes
from distlint.analyzer.static.objects.objects import objects_across
from distlint.rules.base import Example, SourceRule
from distlint.rules.configuration._launch import fixed_ports
from distlint.rules.settings import Page
from distlint.rules.setup._order import inits, tests_around
from distlint.source.finding import Finding, Severity
from distlint.source.numbers import whole_number
from distlint.source.settings.kinds import may_set
from distlint.source.settings.sheet import read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distlint.analyzer.ir.positions import Locators
    from distlint.analyzer.project.module import Module
    from distlint.analyzer.static.objects.objects import Objects
    from distlint.analyzer.static.reaching_definitions import Point
    from distlint.catalogue.catalogue import Catalogue
    from distlint.source.document import Document

_PORT = "MASTER_PORT"
_FROM_LAUNCHER = frozenset({"LOCAL_RANK", "RANK"})
_STARTS = frozenset({"spawn", "start_processes", "Process"})
_PORT_OPTIONS = frozenset({"--master_port", "--master-port"})


class HardCodedPort(SourceRule):
    """`MASTER_PORT`, or the port of the rendezvous, is hard-coded in the script.

    ```python
    local_rank = int(os.environ["LOCAL_RANK"])
    os.environ["MASTER_PORT"] = "29500"  # bad: overrides the port that torchrun has chosen
    dist.init_process_group("nccl")
    ```

    ## Use instead

    ```python
    local_rank = int(os.environ["LOCAL_RANK"])
    os.environ.setdefault("MASTER_PORT", "29500")
    dist.init_process_group("nccl")
    ```

    With torchrun the line is not needed: the launcher sets the variable. A script that spawns its
    processes itself can ask for a free port in the parent process.

    ## Why is this bad?

    Warning, if the script reads the rank that a launcher sets: torchrun runs the store on a port
    that it chooses, and passes it to the processes in this variable. If a script that runs under
    `torchrun --standalone` overrides it, all ranks wait for a store that does not exist, until the
    timeout.

    Info, in preview, for a port in `init_method`, and for a script that starts its processes itself
    or passes the port to a launcher (`--master_port`): two jobs on one machine use the same port,
    and the second one fails with "address already in use".

    ## What is reported

    `os.environ["MASTER_PORT"] = "12355"` in a script that is started by a launcher, as it reads
    what that sets: a warning. In preview, as an info: the same in other scripts, and
    `init_method="tcp://localhost:23456"`; a constant port on the line with which Python starts a
    launcher on one machine: `subprocess.run(["torchrun", "--master_port", "29500", ...])`, also in
    a variable, an f-string or `os.system`.

    ## What is not reported

    - `os.environ.setdefault`, or a test whether the variable is set.
    - The port is computed, or comes from an option. Port 0 is one that is free.
    - The launcher is started for several nodes: they have to agree on the port.
    - The file is a test (`test_*.py`).

    ## Fix safety

    None: the file does not say which port is free, or who sets the variable.

    ## References

    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    - [torch.distributed: initialization](https://docs.pytorch.org/docs/stable/distributed.html#initialization)
    """

    code = "DST506"
    name = "hard-coded-port"
    words = (
        "MASTER_PORT",
        "master_port",
        "master-port",
        "main_process_port",
        "rdzv_endpoint",
        "rdzv-endpoint",
    )

    good = (
        Example(
            title="A default value",
            code="""\
import os

import torch.distributed as dist

os.environ.setdefault("MASTER_PORT", "29500")
if "MASTER_ADDR" not in os.environ:
    os.environ["MASTER_ADDR"] = "localhost"
dist.init_process_group("gloo")
dist.destroy_process_group()
""",
        ),
        Example(
            title="Set only if no launcher has set it",
            code="""\
import os

import torch.distributed as dist

if os.environ.get("MASTER_PORT") is None:
    os.environ["MASTER_PORT"] = "29500"
dist.init_process_group("gloo")
dist.destroy_process_group()
""",
        ),
    )

    bad = (
        Example(
            title="The port of the launcher is overridden",
            effect="static",
            why_static="it waits until it times out under torchrun --standalone only",
            code="""\
import os

import torch
import torch.distributed as dist


def setup():
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"  # expect: DST506
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")


setup()
dist.destroy_process_group()
""",
        ),
        Example(
            title="The same port for every job",
            effect="static",
            why_static="it needs a second job on the same machine",
            code="""\
import torch.distributed as dist
import torch.multiprocessing as mp

PORT = 10001


def run(rank, world):
    url = f"tcp://localhost:{PORT}"
    dist.init_process_group("gloo", url, rank=rank, world_size=world)  # expect: DST506
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, nprocs=2, args=(2,))
""",
        ),
        Example(
            title="The same port on each launch line",
            effect="static",
            why_static="it needs a second job on the same machine",
            code="""\
import subprocess
import sys

command = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2"]
command += ["--master_port", "29500"]  # expect: DST506
command.append("train.py")
subprocess.run(command, check=True)
""",
        ),
    )

    def check(
        self, document: Document, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterable[Finding]:
        if document.is_test:
            return
        found = list(self._of_file(module, catalogue, locators))
        yield from found or self._of_launches(document)

    def _of_file(
        self, module: Module, catalogue: Catalogue, locators: Locators
    ) -> Iterator[Finding]:
        if _PORT not in module.tokens and "init_process_group" not in module.words:
            return
        objects = objects_across(module, catalogue)
        set_here = {written.name for written in environment_writes(objects)}
        launched = (
            not _FROM_LAUNCHER.isdisjoint(module.tokens)
            and _FROM_LAUNCHER.isdisjoint(set_here)
            and _STARTS.isdisjoint(module.words)
            and _PORT_OPTIONS.isdisjoint(module.tokens)
        )
        for site in _fixed(objects):
            serious = launched and isinstance(site, ir.Assign)
            finding = self.finding(
                message="this overrides the port that the launcher has chosen"
                if serious
                else "hard-coded port: two jobs on one machine collide",
                severity=Severity.WARNING if serious else Severity.INFO,
                place=locators.of(module.key).place(site.site),
                effect="all ranks wait for a store that does not exist (`torchrun --standalone`)"
                if serious
                else 'the second job fails with "address already in use"',
                help="Let the launcher set the port, or use `os.environ.setdefault`",
            )
            yield finding if serious else replace(finding, preview=True)

    def _of_launches(self, document: Document) -> Iterator[Finding]:
        sheet = read(document, first=b"#!python") if may_set(document.code) else None
        for start, end in fixed_ports(Page(sheet)) if sheet is not None else ():
            assert sheet is not None
            finding = self.finding(
                message="hard-coded port: two jobs on one machine collide",
                severity=Severity.INFO,
                place=sheet.place(start, end),
                effect='the second job fails with "address already in use"',
                help="Pass `--standalone`, or a port that was free when it was asked for",
            )
            yield replace(finding, preview=True)


def _fixed(objects: Objects) -> Iterator[ir.Assign | ir.Call]:
    for written in environment_writes(objects):
        statement = written.point.statement
        if written.name == _PORT and not written.default and isinstance(statement, ir.Assign):
            if not _asks(written.point) and _is_constant(objects, written.value, written.point):
                yield statement
    for init in inits(objects):
        url = objects.argument(init, "init_method", 1).value
        if url is not None and _has_port(objects, url, init.point):
            yield init.call


def _asks(point: Point) -> bool:
    """Is it set only where a test says that it is missing?"""
    asked = {_PORT, "MASTER_ADDR", "environ", "getenv"}
    return any(asked & ir.tokens_of(test) for test in tests_around(point)) or any(
        isinstance(here.owner, ir.Try) for here in point.around
    )


def _is_constant(objects: Objects, node: ir.Expr, point: Point) -> bool:
    if isinstance(node, ir.Call) and ir.last_name(node.func) == "str" and len(node.args) == 1:
        node = node.args[0].value
    found = [origin.constant for origin in objects.origins(node, point)]
    return bool(found) and all(
        (isinstance(each, int) and each > 0)
        or (isinstance(each, str) and each.isdigit() and bool(whole_number(each)))
        for each in found
    )


def _has_port(objects: Objects, node: ir.Expr, point: Point) -> bool:
    """Is it ``tcp://host:port`` with a constant for the port?"""
    for origin in objects.origins(node, point):
        made = origin.node
        if isinstance(made, ir.Literal) and isinstance(made.value, str):
            port = made.value.rpartition(":")[2]
            if not (made.value.startswith("tcp://") and port.isdigit() and whole_number(port)):
                return False
        elif isinstance(made, ir.Format) and made.parts:
            if "tcp://" not in "".join(_texts(made)):
                return False
            last = made.parts[-1]
            text = last.value if isinstance(last, ir.Literal) else None
            if isinstance(text, str):
                if not text.rpartition(":")[2].isdigit():
                    return False
            elif not _is_constant(objects, last, origin.point):
                return False
        else:
            return False
    return True


def _texts(node: ir.Format) -> Iterator[str]:
    for part in node.parts:
        if isinstance(part, ir.Format):
            yield from _texts(part)
        elif isinstance(part, ir.Literal) and isinstance(part.value, str):
            yield part.value
