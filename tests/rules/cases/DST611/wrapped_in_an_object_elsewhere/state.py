from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class State:
    def __init__(self, net):
        self.model = FSDP(net)
