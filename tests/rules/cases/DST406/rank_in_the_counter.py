"""Each rank counts its own items: the numbers in the names differ."""

import itertools
import os

import numpy as np
import torch
import torch.distributed as dist
from tqdm import tqdm

dist.init_process_group("nccl")


def sums(encode, loader):
    rank, total = dist.get_rank(), 0
    for batch in loader:
        step = rank + total
        np.save(f"codes/{step}.npy", encode(batch))
        total += dist.get_world_size()


def called_where_it_is_added(encode, loader):
    for i, batch in enumerate(loader):
        global_step = int(dist.get_rank() + i * dist.get_world_size())
        np.save("codes/%06d.npy" % global_step, encode(batch))


def from_the_environment(encode, loader):
    for i, batch in enumerate(loader):
        step = i * int(os.environ["WORLD_SIZE"]) + int(os.environ.get("RANK", 0))
        torch.save(encode(batch), os.path.join("codes", str(step) + ".pt"))


def under_another_name(encode, loader):
    me = dist.get_rank() if dist.is_initialized() else 0
    for i, batch in enumerate(loader):
        iteration = 8 * i + me
        torch.save(encode(batch), f"{iteration}.pt")


def counted_up(encode, loader):
    step = dist.get_rank()
    for batch in loader:
        step += dist.get_world_size()
        np.save(f"{step}.npy", encode(batch))


def increased_by_the_rank(encode, loader):
    step = len(loader)
    step += 8 * dist.get_rank()
    np.save(f"{step}.npy", encode(loader))


def in_strides(encode, data):
    for step in tqdm(range(dist.get_rank(), len(data), dist.get_world_size())):
        np.save(f"{step}.npy", encode(data[step]))


def numbered_from(encode, loader):
    for step, batch in enumerate(loader, start=1000 * dist.get_rank()):
        np.save(file=f"{step}.npy", arr=encode(batch))


def zipped(encode, loader):
    for step, batch in zip(itertools.count(dist.get_rank(), 8), loader):
        np.save(f"{step}.npy", encode(batch))


def passed_to_a_function(encode, loader):
    for i, batch in enumerate(loader):
        write(encode(batch), step=dist.get_rank() + i * dist.get_world_size())


def write(codes, step):
    np.save(f"codes/{step}.npy", codes)


class Encoder:
    def __init__(self):
        self.rank = dist.get_rank()
        self.step = self.rank

    def encode(self, batch):
        torch.save(batch, f"{self.step}.pt")
        self.step += dist.get_world_size()

    def encode_all(self, loader):
        for i, batch in enumerate(loader):
            self.keep(batch, self.rank + i)

    def keep(self, batch, step):
        torch.save(batch, f"codes/{step}.pt")


encode, loader, data = given()
sums(encode, loader)
called_where_it_is_added(encode, loader)
from_the_environment(encode, loader)
under_another_name(encode, loader)
counted_up(encode, loader)
increased_by_the_rank(encode, loader)
in_strides(encode, data)
numbered_from(encode, loader)
zipped(encode, loader)
passed_to_a_function(encode, loader)
Encoder().encode(next(loader))
Encoder().encode_all(loader)
