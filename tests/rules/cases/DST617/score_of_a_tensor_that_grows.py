import torch
import torch.distributed as dist
from sklearn.metrics import average_precision_score
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


@torch.inference_mode()
def evaluate(model, loader):
    scores, targets = torch.tensor([]), torch.tensor([])
    for inputs, labels in loader:
        scores = torch.cat([scores, model(inputs).cpu()])
        targets = torch.cat((targets, labels))
    return average_precision_score(targets.numpy(), scores.numpy())  # expect: DST617


def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    score = evaluate(DDP(net), val_loader)
    if dist.get_rank() == 0:
        print("score", score)
