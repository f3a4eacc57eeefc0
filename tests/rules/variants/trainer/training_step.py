"""training_step of a Trainer is given the model first and the inputs after it."""

import torch.distributed as dist
from transformers import Trainer


class Skips(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        if inputs["labels"].numel() == 0:
            return None  # expect: DST117
        loss = super().training_step(model, inputs)
        dist.all_reduce(loss)
        return loss
