import numpy as np
import torch
import torch.distributed as dist


def halves(batch):
    half = len(batch) // 2
    order = torch.randperm(len(batch))
    return batch[order[:half]], batch[order[half:]]


def halves_of_an_item(batch, half):
    x = batch["image"].cuda()
    order = torch.randperm(x.size(0))
    return x[order[:half]], x[order[half:]]


def mixed(x, half):
    order = torch.randperm(x.shape[0], device=x.device)
    return x[order[:half]], x[order[half:]]


class Task:
    def training_step(self, batch, index):
        x, y = batch
        B, C, H, W = x.shape
        order = np.random.permutation(B)
        labelled, others = order[: B // 2], order[B // 2 :]
        return x[labelled], y[others]


def main(train_loader, model):
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(model)
    for step, (x, y) in enumerate(train_loader):
        x = x.cuda()
        count = x.size(0)
        order = torch.randperm(count)
        own, other = order[:4], order[4:]
        a, b = mixed(x, 4)
        model(x[own], x[other], a, b).backward()
    iterator = iter(train_loader)
    for _ in range(100):
        images, labels = next(iterator)
        order = torch.randperm(len(images))
        own, other = order[:4], order[4:]
        model(images[own], images[other]).backward()
