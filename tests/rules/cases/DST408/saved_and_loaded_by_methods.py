"""One method saves on rank 0, and another one loads on all ranks."""

import os

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, model):
        self.model, self.file = model, "model.pth"

    def save(self):
        if dist.get_rank() != 0:
            return
        torch.save(self.model.state_dict(), self.file)

    def fit(self):
        for _ in range(3):
            self.save()

    def evaluate(self):
        state = torch.load(self.file, map_location="cpu")  # expect: DST408
        self.model.load_state_dict(state)


def main(model):
    dist.init_process_group("nccl")
    trainer = Trainer(model)
    trainer.fit()
    trainer.evaluate()


class Keeper:
    def keep(self):
        if self.rank == 0:
            torch.save(self.state(), os.path.join(self.folder, "best.pt"))

    def best(self):
        return torch.load(os.path.join(self.folder, "best.pt"))  # expect: DST408

    def run(self):
        self.keep()
        print("kept")
        self.model.load_state_dict(self.best())


class Loop:
    def checkpoint(self):
        if dist.get_rank() == 0:
            torch.save(self.model.state_dict(), self.path)
        self.restore()

    def restore(self):
        self.log("restore")
        self.model.load_state_dict(torch.load(self.path))  # expect: DST408
