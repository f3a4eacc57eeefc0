import os
import zipfile

import torch
from torch.utils.data import Dataset


class Scenes(Dataset):
    def __init__(self, root):
        self.root = root
        self.items = self.load(root)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def load(self, root):
        found = []
        for house in sorted_houses(root):
            with zipfile.ZipFile(house) as archive:
                names = set([os.path.basename(file).split("_")[0] for file in archive.namelist()])
                for name in names:  # expect: DST215
                    found.append({"name": name, "house": house})
        return found


class Words(Dataset):
    def __init__(self, paths):
        self.samples = []
        for name in {path.split("/")[-1] for path in paths}:  # expect: DST215
            self.samples.append(name)

    def __getitem__(self, index):
        return self.samples[index]


class Speakers(Dataset):
    def __init__(self, lines):
        self.speakers = list(set(line.strip() for line in lines))  # expect: DST215

    def __getitem__(self, index):
        return self.speakers[index]


class Files(Dataset):
    def __init__(self, folder):
        names = set(os.listdir(folder))
        rows = [(name, folder) for name in names]  # expect: DST215
        self.rows = rows

    def __getitem__(self, index):
        name, folder = self.rows[index]
        return torch.load(os.path.join(folder, name))


def map_names(labels):
    return [f"label {label}" for label in labels]


def sorted_houses(root):
    return sorted(os.path.join(root, each) for each in os.listdir(root))
