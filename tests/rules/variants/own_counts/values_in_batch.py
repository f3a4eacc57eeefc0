"""As many turns as there are different labels in this rank's batch."""

import torch
import torch.distributed as dist


def mean_of(rows):
    total = rows.sum(0)
    dist.all_reduce(total)
    return total


dist.init_process_group("gloo")
labels = torch.randint(10, (32,))
features = torch.randn(32, 4)
means = {c: mean_of(features[labels == c]) for c in labels.unique().tolist()}  # expect: DST109
