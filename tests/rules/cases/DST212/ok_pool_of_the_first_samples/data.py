# The numbers drawn are only those of the samples that are shown.
import random


class Pool:
    def __init__(self, data, fraction):
        self.data = data
        self.count = int(fraction * len(data))
        for i in random.sample(range(len(data)), 4):
            print(data[i])

    def get_labeled(self):
        return [self.data[i] for i in range(self.count)]
