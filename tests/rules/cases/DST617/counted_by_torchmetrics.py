import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler
from torchmetrics.classification import BinaryF1Score


@torch.no_grad()
def main(net, data):
    dist.init_process_group("nccl")
    val_loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    model, score = DDP(net), BinaryF1Score()
    for inputs, labels in val_loader:
        score.update(model(inputs).argmax(-1), labels)
    value = score.compute()
    if dist.get_rank() == 0:
        print("F1", value)
