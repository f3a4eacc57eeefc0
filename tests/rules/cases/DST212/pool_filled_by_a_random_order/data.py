# The samples that a random order names are put into the data set one by one.
from copy import deepcopy

import torch


class Pool:
    def __init__(self, data, fraction):
        order = torch.randperm(len(data))  # expect: DST212
        chosen = list(order[: int(len(data) * fraction)])
        self.labeled = deepcopy(data)
        self.labeled.images.clear()
        for i in chosen:
            self.labeled.images.append(data.images[i])

    def get_labeled(self):
        return self.labeled
