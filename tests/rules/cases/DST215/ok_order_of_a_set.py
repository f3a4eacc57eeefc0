import os
import zipfile

import torch
from torch.utils.data import Dataset


class Sorted(Dataset):
    def __init__(self, paths):
        self.samples = []
        for name in sorted({path.split("/")[-1] for path in paths}):
            self.samples.append(name)

    def __getitem__(self, index):
        return self.samples[index]


class SortedLater(Dataset):
    def __init__(self, lines):
        self.speakers = list(set(line.strip() for line in lines))
        self.speakers.sort()

    def __getitem__(self, index):
        return self.speakers[index]


class Numbers(Dataset):
    def __init__(self, counts):
        self.sizes = list(set(int(count) for count in counts))

    def __getitem__(self, index):
        return self.sizes[index]


class ByKey(Dataset):
    def __init__(self, paths):
        self.paths = paths
        self.classes = {path.split("/")[0] for path in paths}
        self.known = list(self.classes)

    def __getitem__(self, index):
        path = self.paths[index]
        return path, path.split("/")[0] in self.known


class Ordered(Dataset):
    def __init__(self, paths):
        wanted = set(path.strip() for path in paths)
        self.samples = [path for path in paths if path in wanted]

    def __getitem__(self, index):
        return self.samples[index]


class Counted(Dataset):
    def __init__(self, paths):
        self.samples = list(paths)
        self.sizes = {}
        for name in set(path.strip() for path in paths):
            self.sizes[name] = os.path.getsize(name)

    def __getitem__(self, index):
        return self.samples[index]


class Labels(Dataset):
    def __init__(self, labels):
        self.names = list({label.strip() for label in labels})
        self.numbers = [self.names.index(label.strip()) for label in labels]

    def __getitem__(self, index):
        return self.names[self.numbers[index]]


def names(paths):
    found = []
    for name in set(path.strip() for path in paths):
        found.append(name)
    return found
