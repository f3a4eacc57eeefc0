"""Nothing is known of the inputs of a class that no framework calls."""

import torch.distributed as dist


class Reduces:
    def compute_loss(self, model, inputs):
        loss = model(**inputs).loss
        if inputs["reduces"]:
            dist.all_reduce(loss)
        return loss
