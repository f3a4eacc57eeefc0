from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Sharded:
    def shard(self, net):
        self.model = FSDP(net)
