import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import Subset, TensorDataset


def split(images, keep):
    order = torch.randperm(images.shape[0])  # expect: DST212
    return images[order[:keep]], images[order[keep:]]


def split_by_sizes(table, keep):
    rows, columns = table.shape
    order = np.random.permutation(rows)  # expect: DST212
    return table[order[:keep]], table[order[keep:]]


def split_each(datasets, keep):
    for data in datasets:
        order = torch.randperm(len(data))  # expect: DST212
        yield data[order[:keep]], data[order[keep:]]


def split_pairs(features, labels, keep):
    count = len(features)
    order = np.random.permutation(count)  # expect: DST212
    train, val = order[:keep], order[keep:]
    return features[train], labels[train], features[val], labels[val]


def picked(data):
    order = torch.randperm(data.shape[1])  # expect: DST212
    return Subset(data, order)


def main(path):
    dist.init_process_group("nccl")
    images = torch.load(path)
    train, val = split(images, 900)
    return TensorDataset(train), TensorDataset(val)
