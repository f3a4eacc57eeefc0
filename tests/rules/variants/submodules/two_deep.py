import torch
import torch.distributed as dist
from torch import nn


class Codebook(nn.Module):
    def forward(self, inputs):
        dist.broadcast(inputs, src=0)
        return inputs


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.book = Codebook()

    def forward(self, inputs):
        return self.book(inputs * 2)


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantizer = Quantizer()

    def forward(self, inputs):
        return self.encode(inputs)

    def encode(self, inputs):
        return self.quantizer(inputs)


def main():
    dist.init_process_group("gloo")
    codec = Codec()
    if dist.get_rank() == 0:  # expect: DST101
        codec(torch.ones(2))
    dist.barrier()


main()
