import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, rank):
        self.rank = rank
        self.saved = None

    def judge(self, score):
        if self.rank == 0:
            self.saved = score > 3

    def fit(self, model, scores):
        for score in scores:
            self.judge(score)
            if self.saved:
                torch.save(model.module.state_dict(), "best.pt")


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Trainer(dist.get_rank()).fit(1, [])
