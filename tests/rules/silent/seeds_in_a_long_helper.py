"""A long helper seeds the random numbers, all ranks alike: what they draw then is the same."""

import argparse
import random

import torch.distributed as dist


def prepare(args):
    sizes = []
    sizes.append(args.width)
    sizes.append(args.depth)
    sizes.append(args.heads)
    sizes.append(args.width * args.depth)
    sizes.append(args.width * args.heads)
    sizes.append(args.depth * args.heads)
    sizes.append(args.width + args.depth)
    sizes.append(args.width + args.heads)
    sizes.append(args.depth + args.heads)
    sizes.append(max(sizes))
    sizes.append(min(sizes))
    random.seed(args.seed)
    return sizes


parser = argparse.ArgumentParser()
for name in ("--width", "--depth", "--heads", "--seed"):
    parser.add_argument(name, type=int, default=2)
args = parser.parse_args()
dist.init_process_group("gloo")
prepare(args)
if random.random() > 0.5:
    dist.barrier()
dist.destroy_process_group()
