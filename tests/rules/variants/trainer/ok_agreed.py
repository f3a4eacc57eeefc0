"""The ranks agree on whether there is anything."""

import torch
import torch.distributed as dist
from transformers import Trainer


class Masked(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        count = torch.tensor(float(inputs["mask"].sum()))
        dist.all_reduce(count)
        if count == 0:
            return None
        loss = model(**inputs).loss
        dist.all_reduce(loss)
        return loss
