import torch
import torch.distributed as dist
import torchmetrics


def build(n):
    return torchmetrics.Accuracy(task="multiclass", num_classes=n, sync_on_compute=False).cuda()


def main(model, loader):
    dist.init_process_group("nccl")
    meter = build(3)
    for epoch in range(3):
        for x, y in loader:
            meter.update(model(x), y)
        if dist.get_rank() == 0:
            print(meter.compute().item())
        meter.reset()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(1, 2)
