from base import Base
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer(Base):
    def setup(self, resume):
        if resume:
            self.resume()
        else:
            self.model = DDP(self.model, device_ids=[self.rank])
