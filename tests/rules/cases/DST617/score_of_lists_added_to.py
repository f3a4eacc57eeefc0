import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    guesses, truths = [], []
    for inputs, labels in loader:
        guesses += model(inputs).argmax(-1).tolist()
        truths += labels.tolist()
    return {"f1": f1_score(truths, guesses), "count": len(truths)}  # expect: DST617


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    score = evaluate(DDP(net), val_loader)
    if dist.get_rank() == 0:
        print(score["f1"])
