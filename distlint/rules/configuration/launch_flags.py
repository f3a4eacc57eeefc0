"""DST824: options of a launcher that contradict each other or the environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, in_force, launches
from distlint.rules.settings import Page, shown
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.shell import Setting

STATIC = "it needs several GPUs or nodes"

_LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0")
_IGNORED = ("master_port", "master_addr", "rdzv_endpoint", "rdzv_id")
_TORCH = ("torchrun", "launch")


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
      `localhost` for nodes other than the first.

    Warnings:

    - `--standalone` together with `--master-port`, `--master-addr` or `--rdzv-endpoint`, which
      torchrun then ignores;
    - `CUDA_VISIBLE_DEVICES` together with `--num_gpus`, `--num_nodes`, `--include` or `--exclude`
      of the `deepspeed` launcher, which then ignores the variable.

    In scripts, Slurm scripts, Dockerfiles, Makefiles, workflows and commands that Python starts.

    ## What is not reported

    - Numbers and addresses that come from arguments, from the environment or from a command.
    - The launch line contains an expansion that may add options.
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
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for launch in launches(page):
            yield from self._devices(page, launch)
            if launch.launcher in _TORCH:
                yield from self._alone(page, launch)
                yield from self._meeting(page, launch)

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
        ignored = [option for option in _IGNORED if option in launch.words]
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
        if host in _LOCAL and rank != "0" and not _same_machine(page, launch):
            yield self._finding(
                page,
                launch,
                launch.bounds(places[0]),
                Severity.ERROR if rank is not None else Severity.WARNING,
                f"{nodes} nodes, but their rendezvous is at {host}",
                "each node looks for the others at its local address",
                "Use the address of the first node",
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
