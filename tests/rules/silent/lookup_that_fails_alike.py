"""Whether a kind of loss is in the settings, all ranks find out alike."""

import torch.distributed as dist


class Router:
    def __init__(self, settings):
        self.kinds = settings.kinds
        self.weights = settings.weights

    def weight_of(self, kind):
        try:
            return self.weights[self.kinds.index(kind)]
        except ValueError:
            return 0.0

    def add_loss(self, loss, counts):
        weight = self.weight_of("balance")
        if weight == 0:
            return loss
        dist.all_reduce(counts)
        return loss + weight * counts.sum()
