import torch.distributed as dist

import core


def main():
    if dist.get_rank() == 0:  # expect: DST101
        core.meet()
