from torch.nn.utils import clip_grad_norm_
from mixins import Sharded


class Trainer(Sharded):
    def __init__(self, net):
        self.shard(net)

    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST611
