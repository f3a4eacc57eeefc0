import logging

import torch.distributed as dist


def train():
    dist.init_process_group("nccl")
    dist.barrier()


def main():
    try:
        train()
    except Exception:
        logging.exception("training failed")


main()
