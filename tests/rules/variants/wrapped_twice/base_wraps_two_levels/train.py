from base import Base
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer(Base):
    def again(self):
        model = DDP(self.model, find_unused_parameters=True)  # expect: DST624
        return model
