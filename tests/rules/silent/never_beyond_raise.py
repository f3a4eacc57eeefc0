"""Whatever the option says, all ranks raise before they come to the collective."""

import argparse
import random

import torch.distributed as dist

args = argparse.ArgumentParser().parse_args()
if not args.final_eval or args.final_eval:
    raise RuntimeError("unexpected")
if random.random() > 0.9:
    dist.barrier()
