"""A path gets the rank, and then a suffix or a directory."""

import json
import os

import torch
import torch.distributed as dist


def again(args, found):
    path = f"{args.path}/part_{args.rank}"
    path = path + ".json"
    with open(path, "w") as file:
        json.dump(found, file)


def added(args, found):
    path = f"{args.path}/part_{args.rank}"
    path += ".json"
    with open(path, "w") as file:
        json.dump(found, file)


def joined(args, found):
    path = f"part_{dist.get_rank()}"
    path = path.replace(" ", "_")
    path = os.path.join(args.path, path)
    torch.save(found, path)


class Writer:
    def __init__(self, args):
        self.path = f"{args.path}/part_{dist.get_rank()}"
        self.path = self.path + ".pt"

    def write(self, found):
        torch.save(found, self.path)


def in_a_loop(args, parts):
    path = f"{args.path}/part_{dist.get_rank()}"
    for part in parts:
        path = path + "_more"
        torch.save(part, path)


def same(args, found):
    path = f"{args.path}/part"
    path = path + ".pt"
    torch.save(found, path)  # expect: DST406


def lost(args, found):
    path = f"part_{dist.get_rank()}"
    print(path)
    path = f"{args.path}/part"
    path = path + ".pt"
    torch.save(found, path)  # expect: DST406


def main(args, found):
    dist.init_process_group("nccl")
    again(args, found)
    added(args, found)
    joined(args, found)
    Writer(args).write(found)
    in_a_loop(args, found)
    same(args, found)
    lost(args, found)
