import torch
import torch.distributed as dist


class T:
    def __init__(self, rank):
        self.rank = rank
        self.improved = False

    def fit(self, model, epochs, evaluate):
        best = 0
        for e in range(epochs):
            score = evaluate(model)
            if self.rank == 0:
                self.improved = score > best
            if self.improved:
                torch.save(model.module.state_dict(), "best.pt")


if __name__ == "__main__":
    dist.init_process_group("nccl")
    T(dist.get_rank()).fit(1, 2, 3)
