"""The method of a path makes the directory."""

from pathlib import Path

import torch.distributed as dist


def new(out):
    Path(out).mkdir(parents=True)  # expect: DST414


def missing(args):
    path = Path(args.out) / "a"
    if not path.exists():
        path.mkdir(parents=True)  # expect: DST414


def annotated(out: Path):
    out.mkdir()  # expect: DST414


def several(out):
    for below in (out / "a", out / "b"):
        below.mkdir(parents=True)  # expect: DST414


class Run:
    def __init__(self, out):
        self.weights = Path(out) / "weights"

    def lay_out(self):
        self.weights.mkdir()  # expect: DST414


def forgiven(out):
    Path(out).mkdir(parents=True, exist_ok=True)
    Path(out).mkdir(0o755, True, True)
    try:
        Path(out).mkdir()
    except FileExistsError:
        print("there")


def made_before(out):
    path = Path(out)
    path.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.mkdir()


def of_each_rank(out):
    (Path(out) / f"rank{dist.get_rank()}").mkdir()


def of_rank_0(out):
    if dist.get_rank() == 0:
        Path(out).mkdir()


def on_another_machine(client, out):
    client.mkdir(out)


def main(args):
    dist.init_process_group("gloo")
    new(args.out)
    missing(args)
    annotated(Path("b"))
    several(Path("c"))
    Run(args.out).lay_out()
    forgiven(args.out)
    made_before(args.out)
    of_each_rank(args.out)
    of_rank_0(args.out)
    on_another_machine(args.client, args.out)
