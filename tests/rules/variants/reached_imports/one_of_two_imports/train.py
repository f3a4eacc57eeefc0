import torch.distributed as dist
import os

if os.environ.get("X"):
    from loops import meet
else:
    from noop import meet


def main():
    if dist.get_rank() == 0:  # expect: DST101
        meet()
