import torch
import torch.distributed as dist
from model import build


def main(net, loader):
    dist.init_process_group("nccl")
    model = build(net)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")  # expect: DST626
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
