import argparse
import logging
import os

import torch
from loops import train
from torch.utils.data import RandomSampler
from torch.utils.data.distributed import DistributedSampler

log = logging.getLogger(__name__)


def main(data):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="out")
    parser.add_argument("--local_rank", type=int, default=-1)
    args = parser.parse_args()
    if not os.path.exists(args.out):
        os.makedirs(args.out)  # expect: DST414
    torch.save(list(RandomSampler(data)), os.path.join(args.out, "order.pt"))
    log.args = args
