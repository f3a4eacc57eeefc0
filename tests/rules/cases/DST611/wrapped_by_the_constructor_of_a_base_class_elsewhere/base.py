from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Base:
    def __init__(self, net):
        self.model = FSDP(net)
