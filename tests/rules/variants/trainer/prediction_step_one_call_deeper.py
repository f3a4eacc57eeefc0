"""The test stands in a method that the hook calls."""

import torch.distributed as dist
from transformers import Trainer


class Scores(Trainer):
    def is_empty(self, inputs):
        return inputs["mask"].sum() == 0

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        if not self.is_empty(inputs):  # expect: DST103
            dist.barrier()
        return super().prediction_step(model, inputs, prediction_loss_only)
