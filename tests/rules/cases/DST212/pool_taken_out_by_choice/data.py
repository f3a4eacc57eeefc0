# Samples that are drawn go from one list to the other.
import numpy as np


class Pool:
    def __init__(self, data, fraction):
        self.labeled, self.unlabeled = [], list(data)
        count = int(fraction * len(data))
        chosen = np.random.choice(len(data), count, replace=False)  # expect: DST212
        for i in sorted(chosen)[::-1]:
            self.labeled.append(self.unlabeled.pop(i))

    def get_labeled(self):
        return self.labeled
