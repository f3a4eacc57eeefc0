import time

import torch.distributed as dist


def main(train):
    try:
        dist.init_process_group("nccl")
    except Exception:  # expect: DST515
        print("alone")
    start = time.time()
    train()
    print("took", time.time() - start)
