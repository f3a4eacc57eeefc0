"""What the arguments say is the same on all ranks."""

import torch.distributed as dist
from transformers import Trainer


class Reduces(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        loss = model(**inputs).loss
        if self.args.label_smoothing_factor > 0:
            dist.all_reduce(loss)
        return loss
