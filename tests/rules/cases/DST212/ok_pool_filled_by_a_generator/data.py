# The order has a generator with a seed.
from copy import deepcopy

import torch


class Pool:
    def __init__(self, data, fraction):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(0))
        chosen = list(order[: int(len(data) * fraction)])
        self.labeled = deepcopy(data)
        self.labeled.images.clear()
        for i in chosen:
            self.labeled.images.append(data.images[i])

    def get_labeled(self):
        return self.labeled
