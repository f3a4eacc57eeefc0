"""A subclass of a subclass, whose hook tests another value of the inputs."""

import torch.distributed as dist
from transformers import Seq2SeqTrainer


class Base(Seq2SeqTrainer):
    pass


class Captions(Base):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = model(**inputs).loss
        if (inputs["labels"] != -100).any():  # expect: DST103
            dist.all_reduce(loss)
        return loss
