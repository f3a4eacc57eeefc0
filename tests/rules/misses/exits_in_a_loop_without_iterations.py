"""What keeps a loop from ending the program need not hold where it has no iteration."""
# effect: hang

import argparse
import sys
import time

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--files", nargs="*", default=[])
parser.add_argument("--resume", action="store_true")
args = parser.parse_args()
dist.init_process_group("gloo")
deadline = time.time() + 3600 * dist.get_rank()
for _file in args.files:
    if not args.resume:
        sys.exit(1)
if time.time() > deadline or args.resume:  # expect: DST103
    dist.barrier()
dist.destroy_process_group()
