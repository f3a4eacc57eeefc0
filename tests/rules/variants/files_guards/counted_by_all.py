import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.better = 0

    def fit(self, model, scores):
        for score in scores:
            if self.rank == 0:
                self.better = 2
            self.better += 1
            if self.better:
                torch.save(model.module.state_dict(), "best.pt")  # expect: DST406


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Trainer(dist.get_rank()).fit(1, [])
