import torch


class Key:
    def __init__(self, name, shape):
        self.name, self.shape = name, shape

    def __hash__(self):
        return hash((self.name, self.shape))

    def __eq__(self, other):
        return hash(self) == hash(other)


def cached(name, found):
    key = hash(name)
    if key not in found:
        found[key] = torch.zeros(1)
    return found[key]
