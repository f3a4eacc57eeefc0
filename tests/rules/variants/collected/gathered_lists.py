"""The predictions of a rank that has some are gathered."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def predict(model, loader):
    predictions = []
    for x, keep in loader:
        scores = model(x)
        if keep.sum() > 0:
            predictions.append(scores[keep])
    if predictions:  # expect: DST103
        merged = torch.cat(predictions)
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, merged)
        return parts
    return []
