from engine.trainers import Trainer
from torch.nn.parallel import DistributedDataParallel as DDP


class Mine(Trainer):
    def wrap(self):
        self.net.model = DDP(self.net.model)
        self.model = DDP(self.model)
