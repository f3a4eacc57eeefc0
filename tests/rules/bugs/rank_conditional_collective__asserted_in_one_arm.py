"""What is asserted where a branch is taken need not hold where it is not."""
# effect: hang

import os

import torch
import torch.distributed as dist


def main():
    dist.init_process_group("gloo")
    use_graphs = "USE_GRAPHS" in os.environ
    use_bf16 = "USE_BF16" in os.environ
    steps = 1
    if use_graphs:
        assert use_bf16
        steps = 2
    if not use_bf16 and dist.get_rank() == 0:  # expect: DST101
        dist.barrier()
    for _ in range(steps):
        dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
