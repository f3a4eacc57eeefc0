"""The test of the rank is around the call of the method that saves."""

import torch
import torch.distributed as dist


class Trainer:
    def save(self):
        torch.save(self.model.state_dict(), self.file)

    def load(self):
        return torch.load(self.file)  # expect: DST408

    def run(self):
        dist.init_process_group("nccl")
        if dist.get_rank() == 0:
            self.save()
        self.load()
