"""The inputs that a Trainer passes to compute_loss are a batch."""

import torch.distributed as dist
from transformers import Trainer


class MaskedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        if inputs["mask"].sum() == 0:
            return None  # expect: DST117
        loss = model(**inputs).loss
        dist.all_reduce(loss)
        return loss
