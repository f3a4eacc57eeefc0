"""The test of the rank is around the call of what saves."""

import os

import numpy as np
import torch
import torch.distributed as dist

BEST = "best.pt"


class Trainer:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)  # expect: DST408

    def run(self):
        dist.init_process_group("nccl")
        if dist.get_rank() == 0:
            self.save()
        self.load()


def write(model, path):
    torch.save(model.state_dict(), path)


def function(model, rank):
    if rank == 0:
        write(model, "a.pt")
    return torch.load("a.pt")  # expect: DST408


def keyword(model, args):
    if args.local_rank == 0:
        write(path=args.best, model=model)
    state = torch.load(args.best, map_location="cpu")  # expect: DST408
    model.load_state_dict(state)


def keep(model):
    torch.save(model.state_dict(), BEST)


def constant(model):
    for epoch in range(3):
        if dist.get_rank() == 0 and epoch == 2:
            keep(model)
    model.load_state_dict(torch.load(BEST))  # expect: DST408


def finish(model, path):
    print("done")
    write(model, path)


def called_deeper(model, out, rank):
    if rank == 0:
        finish(model, out)
    torch.load(out)  # expect: DST408


def export(scores, folder):
    target = os.path.join(folder, "scores.npy")
    np.save(target, scores)


def joined(scores, args, is_main_process):
    if is_main_process:
        export(scores, args.out)
    return np.load(os.path.join(args.out, "scores.npy"))  # expect: DST408


def other_ranks_leave(model, rank, path):
    def inner():
        torch.save(model.state_dict(), path)

    if not rank:
        inner()
    torch.load(path)  # expect: DST408


class Keeper:
    def write(self):
        torch.save(self.state, os.path.join(self.folder, "best.pt"))

    def keep(self):
        self.log("keep")
        self.write()

    def best(self):
        return torch.load(os.path.join(self.folder, "best.pt"))  # expect: DST408

    def fit(self):
        if self.rank == 0:
            self.keep()

    def run(self):
        self.fit()
        return self.best()


class Held:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)  # expect: DST408


def object(model):
    held = Held(model)
    if dist.get_rank() == 0:
        held.save()
    held.load()


def make(folder):
    if not os.path.isdir(folder):
        os.makedirs(folder)


def directory(state, folder, rank):
    if rank == 0:
        make(folder)
    torch.save(state, os.path.join(folder, f"{rank}.pt"))  # expect: DST408


def dump(config, path):
    with open(path, "w") as file:
        file.write(str(config))


def text(config, path):
    if int(os.environ["RANK"]) == 0:
        dump(config, path)
    with open(path) as file:  # expect: DST408
        return file.read()


def write_leaves(model, rank, path):
    if rank != 0:
        return
    torch.save(model, path)


def read(path):
    return torch.load(path)  # expect: DST408


def read_by_a_function(model, rank):
    if rank == 0:
        torch.save(model, "x.pt")
    read("x.pt")


def tested_inside(model, rank):
    write_leaves(model, rank, "c.pt")
    torch.load("c.pt")  # expect: DST408


def tested_deeper(model, args):
    def checkpoint():
        if args.rank == 0:
            write(model, args.path)

    checkpoint()
    torch.load(args.path)  # expect: DST408
