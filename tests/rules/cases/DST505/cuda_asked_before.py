import os

import torch

MAJOR, _ = torch.cuda.get_device_capability()


class Run:
    def __init__(self, local_rank):
        free, _ = torch.cuda.mem_get_info(local_rank)
        os.environ["CUDA_VISIBLE_DEVICES"] = str(local_rank)  # expect: DST505
        self.free = free


def isolate():
    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["LOCAL_RANK"]  # expect: DST505


isolate()
