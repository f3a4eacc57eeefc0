from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


class Base:
    def __init__(self, model):
        self.model = DDP(model)


class Trainer(Base):
    def prepare(self):
        self.model = Accelerator().prepare(self.model)  # expect: DST624
