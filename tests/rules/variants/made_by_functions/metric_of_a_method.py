import torch
import torch.distributed as dist
import torchmetrics


class Trainer:
    def __init__(self):
        self.meter = self.build(3)

    def build(self, n):
        return torchmetrics.Accuracy(task="multiclass", num_classes=n).cuda()

    def fit(self, model, loader):
        for x, y in loader:
            self.meter.update(model(x), y)
        if dist.get_rank() == 0:  # expect: DST116
            print(self.meter.compute().item())
        self.meter.reset()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    Trainer().fit(1, [])
    dist.destroy_process_group()
