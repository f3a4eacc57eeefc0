from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Base:
    def wrap(self):
        self.model = FSDP(self.model)
