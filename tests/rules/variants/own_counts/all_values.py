"""One turn for each class that there is."""

import torch
import torch.distributed as dist


def mean_of(rows):
    total = rows.sum(0)
    dist.all_reduce(total)
    return total


def main(classes):
    dist.init_process_group("gloo")
    labels = torch.randint(classes, (32,))
    features = torch.randn(32, 4)
    found = labels.unique()
    print(len(found), "classes on this rank")
    means = [mean_of(features * (labels == c).unsqueeze(1)) for c in range(classes)]
    parts = {name: part for name, part in zip("ab", means)}
    for name, part in parts.items():
        dist.all_reduce(part)


main(10)
