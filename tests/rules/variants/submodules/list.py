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
        self.layers = [Codebook(), Codebook()]

    def forward(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


def main():
    dist.init_process_group("gloo")
    codec = Codec()
    if dist.get_rank() == 0:  # expect: DST101
        codec(torch.ones(2))
    dist.barrier()


main()
