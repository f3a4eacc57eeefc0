import torch
import torch.distributed as dist
from sklearn.metrics import f1_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(model, loader):
    guesses, truths = [], []
    for inputs, labels in loader:
        guesses.extend(model(inputs).argmax(-1).tolist())
        truths.extend(labels.tolist())
    return f1_score(truths, guesses)  # expect: DST617


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    model, best = DDP(net), 0.0
    for epoch in range(10):
        score = evaluate(model, val_loader)
        if score > best and dist.get_rank() == 0:
            best = score
            torch.save(net.state_dict(), "best.pt")
