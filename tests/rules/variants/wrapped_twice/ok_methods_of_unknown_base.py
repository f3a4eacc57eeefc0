from engine.trainers import Trainer
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


class Mine(Trainer):
    def shard(self):
        self.model = FSDP(self.model)

    def replicate(self):
        self.model = DDP(self.model)
