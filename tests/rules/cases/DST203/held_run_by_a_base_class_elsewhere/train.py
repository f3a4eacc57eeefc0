from base import Base
from data import make_loader
from torch.nn.parallel import DistributedDataParallel as DDP
from tqdm import tqdm


class Trainer(Base):
    def __init__(self, model, data, val):
        self.model = DDP(model)
        self.loader = make_loader(data, True)
        self.val_loader = make_loader(val, True)

    def train_epoch(self):
        bar = tqdm(self.loader)
        for step, batch in enumerate(bar):
            self.model(batch).mean().backward()


def main(model, data, val):
    Trainer(model, data, val).run(3)
