"""Each engine of a dict saves its checkpoint on rank 0."""

import deepspeed
import torch
import torch.distributed as dist


class Agents:
    def __init__(self, nets, config):
        self.engines = {}
        for name, net in nets.items():
            self.engines[name], *_ = deepspeed.initialize(model=net, config=config)

    def save(self, folder):
        if dist.get_rank() == 0:  # expect: DST407
            for name, engine in self.engines.items():
                engine.save_checkpoint(folder, tag=name)
        dist.barrier()


def main(config):
    deepspeed.init_distributed()
    nets = {"actor": torch.nn.Linear(4, 4), "critic": torch.nn.Linear(4, 1)}
    Agents(nets, config).save("out")
