import sys

import torch.distributed as dist


def main():
    try:
        dist.init_process_group("nccl")
    except Exception as error:
        print(error)
        sys.exit(1)
    dist.barrier()


main()
