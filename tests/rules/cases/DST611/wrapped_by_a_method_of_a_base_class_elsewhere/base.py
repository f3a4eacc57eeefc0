from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Base:
    def __init__(self, net):
        self.model = net
        self.wrap()

    def wrap(self):
        self.model = FSDP(self.model)
