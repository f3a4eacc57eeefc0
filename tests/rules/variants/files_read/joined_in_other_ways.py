"""The path is written in another form where it is read."""

import json
import os
from pathlib import Path

import torch
import torch.distributed as dist


def as_text(args):
    if dist.get_rank() == 0:
        torch.save({}, f"{args.out}/a.pt")
    return torch.load(os.path.join(args.out, "a.pt"))  # expect: DST408


def by_variable(out):
    if dist.get_rank() == 0:
        torch.save({}, os.path.join(out, "b.pt"))
    path = os.path.join(out, "b.pt")
    return torch.load(path)  # expect: DST408


def by_pathlib(args):
    out = Path(args.out)
    if dist.get_rank() == 0:
        with open(out / "c.json", "w") as file:
            json.dump({}, file)
    written = out.joinpath("c.json")
    with written.open() as opened:  # expect: DST408
        return json.load(opened)


def write(out, name):
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    torch.save({}, os.path.join(folder, "d.pt"))


def through_a_helper(args):
    if dist.get_rank() == 0:
        write(args.out, args.name)
    return torch.load(os.path.join(args.out, args.name, "d.pt"))  # expect: DST408


def another_file(out):
    if dist.get_rank() == 0:
        torch.save({}, f"{out}/e.pt")
    return torch.load(os.path.join(out, "f.pt"))


def another_folder(out, old):
    if dist.get_rank() == 0:
        torch.save({}, os.path.join(out, "g.pt"))
    out = old
    path = os.path.join(out, "g.pt")
    return torch.load(path)


def after_a_barrier(out):
    if dist.get_rank() == 0:
        torch.save({}, f"{out}/h.pt")
    dist.barrier()
    return torch.load(os.path.join(out, "h.pt"))


def main(args):
    dist.init_process_group("gloo")
    as_text(args)
    by_variable(args.out)
    by_pathlib(args)
    through_a_helper(args)
    another_file(args.out)
    another_folder(args.out, args.old)
    after_a_barrier(args.out)
