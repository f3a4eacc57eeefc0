from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


class Replicas:
    def __init__(self, net):
        self.model = FSDP(net, sharding_strategy=ShardingStrategy.NO_SHARD)


class Either:
    def __init__(self, net, sharded):
        self.model = FSDP(net) if sharded else DDP(net)


def wrap(net, sharded):
    return FSDP(net) if sharded else DDP(net)
