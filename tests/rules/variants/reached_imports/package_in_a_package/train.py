import torch.distributed as dist

import lib.core


def main():
    if dist.get_rank() == 0:  # expect: DST101
        lib.core.meet()
