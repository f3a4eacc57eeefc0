import sys

import torch.distributed as dist
import wandb


def get_rank():
    if not dist.is_initialized():
        return 0
    return dist.get_rank()


def maybe_join(args):
    if len(args) > 1:
        dist.init_process_group("nccl")


def main(args):
    if get_rank() == 0:
        wandb.login()
    maybe_join(args)


main(sys.argv)
