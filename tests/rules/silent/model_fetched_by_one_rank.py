"""The first rank alone fetches a model anew; which of its parameters are trained is the same."""

import os
from importlib import import_module

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Runner:
    def __init__(self, factory, trained):
        self.encoder = self.prepared(self.fetched(factory), trained)
        self.head = self.prepared(factory(2, 1), True)

    def fetched(self, factory):
        anew = True
        if dist.get_rank() > 0:
            dist.barrier()
            anew = False
        model = factory(2, 2, device="cpu" if anew else None)
        if dist.get_rank() == 0:
            dist.barrier()
        return model

    def prepared(self, model, trained):
        if trained and any(p.requires_grad for p in model.parameters()):
            model = DistributedDataParallel(model)
        return model


def main():
    dist.init_process_group("gloo")
    factory = getattr(import_module("torch.nn"), os.environ.get("LAYER", "Linear"))
    Runner(factory, trained=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
