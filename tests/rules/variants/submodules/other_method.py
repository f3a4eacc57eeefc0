import torch
import torch.distributed as dist
from torch import nn


class Codebook(nn.Module):
    def forward(self, inputs):
        dist.broadcast(inputs, src=0)
        return inputs


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.book = Codebook()

    def encode(self, inputs):
        return self.book(inputs)


def main():
    dist.init_process_group("gloo")
    codec = Codec()
    if dist.get_rank() == 0:  # expect: DST101
        codec.encode(torch.ones(2))
    dist.barrier()


main()
