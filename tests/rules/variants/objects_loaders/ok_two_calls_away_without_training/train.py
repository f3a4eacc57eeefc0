import torch.distributed as dist
from data import all_of, build
from steps import evaluate_robustness, features
from torch.nn.parallel import DistributedDataParallel as DDP


def main(data, net):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    loader = build(data)
    for layer in range(10):
        for batch in loader:
            print(features(model, batch))
    for batch in all_of(data):
        print(features(model, batch))
        print(evaluate_robustness(model, batch))
