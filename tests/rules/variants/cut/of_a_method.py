"""A method hands out the part of a rank."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Corpus:
    def __init__(self, texts, config):
        self.texts = texts
        self.config = config

    def shard(self):
        size = math.ceil(len(self.texts) / self.config.world_size)
        begin = self.config.rank * size
        return self.texts[begin : begin + size]


class Config:
    def __init__(self):
        self.rank = dist.get_rank()
        self.world_size = dist.get_world_size()


def main(texts):
    dist.init_process_group("gloo")
    corpus = Corpus(texts, Config())
    model = DDP(torch.nn.Linear(3, 1))
    for text in corpus.shard():  # expect: DST113
        model(text).mean().backward()
