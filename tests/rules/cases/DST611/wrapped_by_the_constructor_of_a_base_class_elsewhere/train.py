from torch.nn.utils import clip_grad_norm_
from base import Base


class Middle(Base):
    pass


class Trainer(Middle):
    def __init__(self, net, lr):
        super().__init__(net)
        self.lr = lr

    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST611
