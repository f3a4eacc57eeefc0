from engine.trainers import Trainer
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


class Mine(Trainer):
    def wrap(self, sharded):
        if sharded:
            self.model = FSDP(self.model)
        else:
            self.model = DDP(self.model)
