"""What a long helper raises by its arguments it raises on all ranks: they leave together."""

import argparse

import torch.distributed as dist


def build(args):
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
    if args.depth > 3:
        raise ValueError("too deep")
    return sizes


def main():
    parser = argparse.ArgumentParser()
    for name in ("--width", "--depth"):
        parser.add_argument(name, type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    try:
        build(args)
    except ValueError:
        return
    dist.barrier()


main()
