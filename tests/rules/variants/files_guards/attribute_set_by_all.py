import torch
import torch.distributed as dist


class T:
    def __init__(self, rank):
        self.rank = rank

    def fit(self, model, epochs, evaluate):
        best = 0
        for e in range(epochs):
            score = evaluate(model)
            if self.rank == 0:
                self.improved = score > best
            self.done = score > 3
            if self.done:
                torch.save(model.module.state_dict(), "best.pt")  # expect: DST406


if __name__ == "__main__":
    dist.init_process_group("nccl")
    T(dist.get_rank()).fit(1, 2, 3)
