from torch.nn.utils import clip_grad_norm_
from base import Either, Replicas, wrap


class One(Replicas):
    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)


class Two(Either):
    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)


def main(net, x):
    model = wrap(net, x)
    model(x).sum().backward()
    clip_grad_norm_(model.parameters(), 1.0)
