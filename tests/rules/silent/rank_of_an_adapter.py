"""``lora.rank`` is that of a matrix: the same on all ranks."""

from types import SimpleNamespace

import torch.distributed as dist


class Saver:
    def __init__(self, config=None):
        self.config = config
        self.has_adapters = self.config.model.lora.rank > 0 if self.config is not None else False

    def save(self):
        if self.has_adapters:
            names = [None] * dist.get_world_size()
            dist.all_gather_object(names, "adapter")
        dist.barrier()


def main(config):
    dist.init_process_group("gloo")
    Saver(config).save()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(SimpleNamespace(model=SimpleNamespace(lora=SimpleNamespace(rank=8))))
