"""A long helper refuses a setting on all ranks, so that nothing comes of it further down."""

import argparse

import torch.distributed as dist


def check(args):
    if args.only_main:
        raise ValueError("not supported")
    sizes = []
    sizes.append(args.width)
    sizes.append(args.depth)
    sizes.append(args.width * args.depth)
    sizes.append(args.width + args.depth)
    sizes.append(args.width - args.depth)
    sizes.append(args.width // args.depth)
    sizes.append(args.width % args.depth)
    sizes.append(max(sizes))
    sizes.append(min(sizes))
    sizes.append(sum(sizes))
    sizes.append(len(sizes))
    return sizes


parser = argparse.ArgumentParser()
parser.add_argument("--only-main", action="store_true")
for name in ("--width", "--depth"):
    parser.add_argument(name, type=int, default=2)
args = parser.parse_args()
dist.init_process_group("gloo")
check(args)
if args.only_main:
    if dist.get_rank() == 0:
        dist.barrier()
dist.destroy_process_group()
