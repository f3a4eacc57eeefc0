import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")


def flags():
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"  # expect: DST508
    more()


def more():
    os.environ["MASTER_PORT"] = "29501"  # expect: DST508
    os.environ["NCCL_DEBUG"] = "INFO"


class Trainer:
    def __init__(self):
        os.environ["TORCH_NCCL_BLOCKING_WAIT"] = "1"  # expect: DST508
        self.synchronize()
        os.environ["NCCL_DEBUG"] = "INFO"  # expect: DST508

    def synchronize(self):
        dist.barrier()


def main():
    setup()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    flags()
    Trainer()


if __name__ == "__main__":
    main()
