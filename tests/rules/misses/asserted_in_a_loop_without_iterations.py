"""What a loop asserts need not hold where it has no iteration."""
# effect: hang

import argparse

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=0)
parser.add_argument("--ema", action="store_true")
args = parser.parse_args()
dist.init_process_group("gloo")
for _number in range(args.rounds):
    assert args.ema
if dist.get_rank() == 0:  # expect: DST101
    if args.ema:
        raise ValueError("not yet")
    dist.barrier()
dist.destroy_process_group()
