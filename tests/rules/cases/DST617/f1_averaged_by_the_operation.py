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
    score = torch.tensor(f1_score(truths, guesses), device="cuda")
    dist.all_reduce(score, op=dist.ReduceOp.AVG)  # expect: DST617
    return score.item()


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    score = evaluate(DDP(net), val_loader)
    if dist.get_rank() == 0:
        print("F1", score.item())
