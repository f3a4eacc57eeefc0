"""DST824: options of a launcher that contradict each other or the environment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._launch import Launch, in_force, launches
from distlint.rules.settings import Page, shown
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.shell import Setting

STATIC = "it takes several GPUs or nodes"

_LOCAL = ("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0")
_IGNORED = ("master_port", "master_addr", "rdzv_endpoint", "rdzv_id")
_TORCH = ("torchrun", "launch")


class LaunchFlags(SettingsRule):
    """A launch line asks for what cannot be, or for what the launcher passes over.

    ## What it finds

    Errors:

    - more processes on a node than `CUDA_VISIBLE_DEVICES` lists;
    - `--standalone` with several nodes;
    - several nodes and no place to meet: neither `--rdzv-endpoint` nor `--master-addr`, or
      `localhost` for nodes other than the first.

    Warnings:

    - `--standalone` together with `--master-port`, `--master-addr` or `--rdzv-endpoint`, which
      torchrun then passes over;
    - `CUDA_VISIBLE_DEVICES` in front of `deepspeed --num_gpus` or `--include`, which then does not
      count.

    In scripts, Slurm scripts, Dockerfiles, Makefiles, workflows and commands that Python starts.

    ## Why it matters

    A process without a GPU ends with "CUDA error: invalid device ordinal"; nodes that do not find
    each other wait until they give up.

    ## What to do

    Let one place say it. torchrun gives out no GPUs: each process takes the one of its LOCAL_RANK
    among those that are visible.

    ## Fix

    None: which of the two is meant is for you to say.

    ## When it is silent

    - Numbers and addresses that come from arguments, from the environment or from a command.
    - The launch line holds an expansion that may bring more options.
    """

    code = "DST824"
    name = "launch-flags"

    good = (
        Example(
            title="Variables, and as many processes as GPUs",
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
    )

    bad = (
        Example(
            title="Eight processes on two GPUs, and two nodes that stand alone",
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
        related = (Related("the GPUs", page.sheet.place(visible.start, visible.end)),)
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
        if wanted is not None and wanted > count:
            yield self._finding(
                page,
                launch,
                launch.bounds(option),
                Severity.ERROR,
                f"{wanted} processes on a node, and `CUDA_VISIBLE_DEVICES` lists {count}",
                '"CUDA error: invalid device ordinal" in those that have no GPU',
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
                    f"`CUDA_VISIBLE_DEVICES` does not count beside `--{option}`",
                    "the deepspeed launcher passes over it and says so",
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
                f"`--standalone` is for one node, and `--nnodes` asks for {nodes}",
                "it waits for nodes that cannot find it",
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
                f"`--standalone` passes over {names}",
                "torchrun takes a free port of its own",
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
                    f"{nodes} nodes, and nothing says where they meet",
                    "each node waits for the others on itself",
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
                f"{nodes} nodes, and they are to meet at {host}",
                "each node looks for the others on itself",
            )

    def _finding(
        self,
        page: Page,
        launch: Launch,
        bounds: tuple[int, int],
        severity: Severity,
        message: str,
        effect: str,
        related: tuple[Related, ...] = (),
    ) -> Finding:
        return self.finding(
            page,
            message,
            severity,
            bounds,
            effect=effect,
            advice="let one place say it"
            if severity is Severity.WARNING
            else "correct one of them",
            related=related,
        )


def _same_machine(page: Page, launch: Launch) -> bool:
    """Are the nodes started beside each other, as people do to try it out?"""
    same = [other for other in launches(page) if other.launcher in _TORCH]
    ranks = {other.text("node_rank") for other in same}
    return len(ranks - {None}) > 1
