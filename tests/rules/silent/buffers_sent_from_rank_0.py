"""All buffers are sent from rank 0 before something is decided by one of them."""

import torch
import torch.distributed as dist


class Codebook(torch.nn.Module):
    def __init__(self, size=4):
        super().__init__()
        self.register_buffer("counts", torch.zeros(size))
        self.register_buffer("codes", torch.zeros(size, 2))

    def share(self):
        for each in self.buffers():
            dist.broadcast(each.data, src=0)

    def begin(self, batch):
        chosen = batch[torch.randperm(len(batch))[:2]]
        self.counts.data.copy_(torch.bincount(chosen, minlength=len(self.counts)))
        self.share()

    def forward(self, batch):
        self.begin(batch)
        if torch.any(self.counts < 1):
            self.codes.data.normal_()
            self.share()
        return self.codes[batch]
