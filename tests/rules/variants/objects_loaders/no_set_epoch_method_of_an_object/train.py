import torch
import torch.distributed as dist
from data import build
from learner import Learner
from torch.nn.parallel import DistributedDataParallel as DDP


def main(train_set, test_set, net):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    learner = Learner(model, torch.optim.SGD(model.parameters(), lr=0.1))
    train_loader, _ = build(train_set, test_set)
    for epoch in range(10):
        for batch in train_loader:
            learner.learn(batch)
