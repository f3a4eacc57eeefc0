import torch
import torch.distributed as dist
from torch import nn


class Codebook(nn.Module):
    def forward(self, inputs):
        dist.broadcast(inputs, src=0)
        return inputs


class Plain(nn.Module):
    def forward(self, inputs):
        return inputs + 1


class Codec(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Plain(), Plain()])

    def forward(self, inputs):
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


def main():
    dist.init_process_group("gloo")
    codec = Codec()
    if dist.get_rank() == 0:
        codec(torch.ones(2))
    dist.barrier()


main()
