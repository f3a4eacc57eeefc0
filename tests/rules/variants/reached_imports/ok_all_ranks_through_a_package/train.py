import torch.distributed as dist

import core


def main():
    core.meet()
    if dist.get_rank() == 0:
        print("all are here")
