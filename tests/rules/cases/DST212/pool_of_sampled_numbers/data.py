# Numbers of samples, drawn without a seed, pick the data.
import random


class Pool:
    def __init__(self, data, fraction):
        self.data = data
        self.chosen = random.sample(range(len(data)), int(fraction * len(data)))  # expect: DST212

    def get_labeled(self):
        return [self.data[i] for i in self.chosen]
