import torch
import torch.distributed as dist
import torchmetrics


def accuracy(n):
    return torchmetrics.Accuracy(task="multiclass", num_classes=n)


def build(n):
    meter = accuracy(n)
    return meter.cuda()


def main(model, loader):
    dist.init_process_group("nccl")
    meter = build(3)
    for epoch in range(3):
        for x, y in loader:
            meter.update(model(x), y)
        if dist.get_rank() == 0:  # expect: DST116
            print(meter.compute().item())
        meter.reset()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(1, 2)
