import os

import torch
import torch.distributed as dist


def setup(late):
    if late:
        return
    dist.init_process_group("nccl")


def flags():
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"


def again():
    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"


def elsewhere():
    os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"


def main(late):
    flags()
    again()
    setup(late)
    again()
    late and flags()


def other():
    flags()
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main(True)
    flags()
