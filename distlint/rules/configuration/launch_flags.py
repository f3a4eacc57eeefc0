"""DST824: options of a launcher that contradict each other or the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import LOCAL, Launch, in_force, launches
from distlint.rules.configuration._slurm import nodes_of
from distlint.rules.settings import Page, shown
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.shell import Setting

STATIC = "it needs several GPUs or nodes"

_IGNORED = ("master_port", "master_addr", "rdzv_endpoint", "rdzv_id")
_OF_STANDALONE = "localhost:0"
"""The endpoint that ``--standalone`` stands for."""
_TORCH = ("torchrun", "launch")
_OF_TASKS = ("SLURM_NODEID", "SLURM_PROCID", "SLURMLOCALID", "SLURMD_NODENAME")
"""Variables by which the tasks of a command differ."""


class LaunchFlags(SettingsRule):
    """A launch line has options that contradict each other, or that the launcher ignores.

    ```bash
    CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc-per-node=8 train.py  # bad: 8 processes, 2 GPUs
    torchrun --standalone --nnodes=2 --nproc-per-node=8 train.py  # bad: for one node only
    ```

    ## Use instead

    ```bash
    CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc-per-node=2 train.py
    torchrun --nnodes=2 --nproc-per-node=8 --rdzv-backend=c10d --rdzv-endpoint=$HOST:29500 train.py
    ```

    Set each value in one place. torchrun does not assign GPUs: each process uses the GPU with the
    index LOCAL_RANK among those that are visible.

    ## Why is this bad?

    A process without a GPU fails with "CUDA error: invalid device ordinal". Nodes that do not find
    each other wait until the timeout.

    ## What is reported

    Errors:

    - more processes on a node than `CUDA_VISIBLE_DEVICES` lists;
    - `--standalone` with several nodes;
    - several nodes without a rendezvous: neither `--rdzv-endpoint` nor `--master-addr`, or
      `localhost` for nodes other than the first;
    - `srun torchrun` in a job of several nodes, without `--nnodes` or with `--nnodes=1`.

    Warnings:

    - several nodes with `--master-addr` and without `--node-rank`, so that each node is the first;
      an error after `srun`;
    - `--standalone` together with `--master-port`, `--master-addr` or `--rdzv-endpoint`, which
      torchrun then ignores (not with `localhost:0`, which `--standalone` stands for);
    - `CUDA_VISIBLE_DEVICES` together with `--num_gpus`, `--num_nodes`, `--include` or `--exclude`
      of the `deepspeed` launcher, which then ignores the variable.

    In scripts, Slurm scripts, Dockerfiles, Makefiles, workflows and commands that Python starts: a
    list or a string, also in variables, functions and f-strings. In `bash -c "..."` and
    `ssh HOST "..."` as well.

    ## What is not reported

    - Numbers and addresses that come from arguments, from the environment or from a command.
    - The launch line contains an expansion that may add options.
    - `srun` selects some of the nodes, or the command contains a variable by which tasks differ
      (`SLURM_NODEID`, `SLURM_PROCID`).
    - The script tests `CUDA_VISIBLE_DEVICES` before the launch line.

    ## Fix safety

    None: only you know which of the two is wrong.

    ## References

    - [torchrun](https://docs.pytorch.org/docs/stable/elastic/run.html)
    """

    code = "DST824"
    name = "launch-flags"

    good = (
        Example(
            title="As many processes as GPUs, and variables",
            file="launch.sh",
            code="""\
GPUS=4
CUDA_VISIBLE_DEVICES=0,1,2,3 torchrun --nproc_per_node=$GPUS train.py
torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint="$HEAD:29500" train.py
torchrun --nnodes="$SLURM_NNODES" $EXTRA train.py
""",
            effect="static",
            why_static=STATIC,
        ),
        Example(
            title="The number of GPUs is tested first",
            file="launch.sh",
            code="""\
export CUDA_VISIBLE_DEVICES=0
if [[ $CUDA_VISIBLE_DEVICES != *","* ]]; then
    python train.py
else
    torchrun --nproc_per_node=4 train.py
fi
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="More processes than GPUs, and two nodes without a rendezvous",
            file="launch.sh",
            code="""\
export CUDA_VISIBLE_DEVICES=0,1
torchrun --nproc_per_node=8 train.py  # expect: DST824
torchrun --standalone --nnodes=2 --nproc_per_node=2 train.py  # expect: DST824
torchrun --nnodes=2 --nproc_per_node=2 train.py  # expect: DST824
""",
            effect="static",
            why_static=STATIC,
        ),
        Example(
            title="A run of one node on each node of a job",
            file="train.sbatch",
            code="""\
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
srun torchrun --nproc_per_node=8 train.py  # expect: DST824
srun torchrun --nnodes=2 --nproc_per_node=8 --master_addr="$HEAD" train.py  # expect: DST824
""",
            effect="static",
            why_static="it needs a cluster with Slurm",
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            yield from self._devices(page, launch)
            if launch.launcher in _TORCH:
                yield from self._alone(page, launch)
                yield from self._meeting(page, launch)
                yield from self._numbers(page, launch)
                yield from self._tasks(page, launch)

    def _devices(self, page: Page, launch: Launch) -> Iterator[Finding]:
        visible = in_force(launch, "CUDA_VISIBLE_DEVICES")
        if visible is None or visible.value is None:
            return
        related = (Related("visible GPUs", page.sheet.place(visible.start, visible.end)),)
        count = len([part for part in visible.value.split(",") if part.strip()])
        if launch.launcher == "deepspeed":
            yield from self._deepspeed(page, launch, visible)
            return
        option = {"accelerate": "num_processes"}.get(launch.launcher, "nproc_per_node")
        wanted = launch.number(option)
        if launch.launcher == "accelerate":
            machines = launch.number("num_machines")
            if "cpu" in launch.words or ("num_machines" in launch.words and machines != 1):
                return
        if wanted is not None and wanted > count and not _is_tested(page, visible, launch):
            yield self._finding(
                page,
                launch,
                launch.bounds(option),
                Severity.ERROR,
                f"{wanted} processes, but `CUDA_VISIBLE_DEVICES` lists {count}",
                '"CUDA error: invalid device ordinal" in the processes without a GPU',
                "Start as many processes as there are GPUs",
                related,
            )

    def _deepspeed(self, page: Page, launch: Launch, visible: Setting) -> Iterator[Finding]:
        for option in ("num_gpus", "include", "exclude", "num_nodes"):
            if option in launch.words:
                yield self._finding(
                    page,
                    launch,
                    (visible.start, visible.end),
                    Severity.WARNING,
                    f"`CUDA_VISIBLE_DEVICES` is ignored with `--{option}`",
                    "the deepspeed launcher ignores it, and prints a warning",
                    "Use one of the two",
                )
                return

    def _alone(self, page: Page, launch: Launch) -> Iterator[Finding]:
        if "standalone" not in launch.words:
            return
        nodes = launch.text("nnodes")
        if nodes is not None and nodes not in ("1", "1:1"):
            yield self._finding(
                page,
                launch,
                launch.bounds("nnodes"),
                Severity.ERROR,
                f"`--standalone` is for one node, but `--nnodes` is {nodes}",
                "the job waits for nodes that cannot find it",
                "Use `--rdzv-endpoint` instead of `--standalone`, or start one node",
            )
        ignored = [
            option
            for option in _IGNORED
            if option in launch.words and launch.text(option) != _OF_STANDALONE
        ]
        if ignored:
            first = ignored[0]
            names = shown(f"--{option.replace('_', '-')}" for option in ignored)
            yield self._finding(
                page,
                launch,
                launch.bounds(first),
                Severity.WARNING,
                f"`--standalone` ignores {names}",
                "torchrun uses a free port on this node",
                "Remove either of them",
            )

    def _meeting(self, page: Page, launch: Launch) -> Iterator[Finding]:
        nodes = launch.number("nnodes")
        if nodes is None or nodes < 2 or "standalone" in launch.words or not launch.complete:
            return
        places = [option for option in ("rdzv_endpoint", "master_addr") if option in launch.words]
        rank = launch.text("node_rank")
        if not places:
            backend = launch.text("rdzv_backend") if "rdzv_backend" in launch.words else "static"
            if backend in ("static", "c10d") and rank != "0":
                yield self._finding(
                    page,
                    launch,
                    launch.bounds("nnodes"),
                    Severity.ERROR,
                    f"{nodes} nodes, but no rendezvous address",
                    "each node waits for the others at its local address",
                    "Pass `--rdzv-endpoint` with the address of the first node",
                )
            return
        address = launch.text(places[0])
        host = address.rpartition(":")[0] or address if address is not None else None
        if host in LOCAL and rank != "0" and not _same_machine(page, launch):
            yield self._finding(
                page,
                launch,
                launch.bounds(places[0]),
                Severity.ERROR if rank is not None else Severity.WARNING,
                f"{nodes} nodes, but their rendezvous is at {host}",
                "each node looks for the others at its local address",
                "Use the address of the first node",
            )

    def _numbers(self, page: Page, launch: Launch) -> Iterator[Finding]:
        """Several nodes, each of which is the first: it is the default."""
        nodes = launch.number("nnodes")
        if nodes is None or nodes < 2 or not launch.complete or "PET_" in page.text:
            return
        if "master_addr" not in launch.words or {"rdzv_backend", "standalone"} & {*launch.words}:
            return
        if any("node_rank" in other.words for other in launches(page)):
            return
        if launch.text("master_addr") in LOCAL:
            return  # which is reported already
        yield self._finding(
            page,
            launch,
            launch.bounds("nnodes"),
            Severity.ERROR if launch.wrapper == "srun" else Severity.WARNING,
            f"{nodes} nodes, but no `--node-rank`: each of them is node 0",
            "each node waits for the others as the first of them",
            "Pass `--node-rank`, or `--rdzv-backend=c10d` with `--rdzv-endpoint`",
        )

    def _tasks(self, page: Page, launch: Launch) -> Iterator[Finding]:
        """A launcher on each node of a job that starts a run of one node."""
        command = launch.outer or launch.command
        count = nodes_of(page, command, launch.first)
        one = launch.text("nnodes") in ("1", "1:1") or "nnodes" not in launch.words
        if count is None or count < 2 or not one or not launch.complete:
            return
        text = page.text[command.start : command.end]
        if "PET_" in page.text or any(name in text for name in _OF_TASKS):
            return  # each may do something else
        bounds = (launch.first.start, launch.first.end)
        yield self._finding(
            page,
            launch,
            launch.bounds("nnodes") if "nnodes" in launch.words else bounds,
            Severity.ERROR,
            f"`srun` starts this on {count} nodes, but each run has a single node",
            f"{count} runs train the same model separately",
            "Pass `--nnodes`, and `--rdzv-endpoint` with the address of the first node",
        )

    def _finding(
        self,
        page: Page,
        launch: Launch,
        bounds: tuple[int, int],
        severity: Severity,
        message: str,
        effect: str,
        help: str,
        related: tuple[Related, ...] = (),
    ) -> Finding:
        return self.finding(
            page,
            message,
            severity,
            bounds,
            effect=effect,
            help=help,
            related=related,
        )


def _is_tested(page: Page, visible: Setting, launch: Launch) -> bool:
    """Does the script test the variable before a launch, which may then be skipped?"""
    between = page.text[visible.end : launch.command.start]
    return re.search(rf"(?:\[|\btest|\bcase)\s[^\n]*{visible.name}", between) is not None


def _same_machine(page: Page, launch: Launch) -> bool:
    """Are the nodes started beside each other, as people do to try it out?"""
    same = [other for other in launches(page) if other.launcher in _TORCH]
    ranks = {other.text("node_rank") for other in same}
    return len(ranks - {None}) > 1
