import torch.distributed as dist


class Trainer:
    def __init__(self, args, **options):
        self.args = args
        self.options = options
        self.world_size = self.option("world_size", default=2)

    def option(self, name, default):
        return self.options.get(name, default)

    def train(self, rank=0):
        dist.init_process_group(  # expect: DST514
            "nccl", rank=rank, world_size=self.world_size
        )
