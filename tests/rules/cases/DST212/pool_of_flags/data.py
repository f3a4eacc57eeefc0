# Flags are set by a random order, and then pick the data.
import numpy as np
from torch.utils.data import Subset


class Pool:
    def __init__(self, data, fraction):
        self.data = data
        self.flags = np.zeros(len(data), dtype=bool)
        chosen = np.random.permutation(len(data))[: int(fraction * len(data))]  # expect: DST212
        self.flags[chosen] = True

    def get_labeled(self):
        return Subset(self.data, np.where(self.flags)[0])
