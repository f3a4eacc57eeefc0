"""An evaluation that skips a batch, with a function of the project for a model."""

import torch
import torch.distributed as dist


class Evaluation:
    def run(self):
        total = torch.zeros(1)
        for i, batch in enumerate(self.relax_loader):
            if torch.isnan(batch.energy).any():
                continue  # expect: DST117
            total = total + relaxed(batch)
            dist.all_reduce(total)


def relaxed(batch):
    return batch.energy.sum()
