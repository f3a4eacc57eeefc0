import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, diffusion, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)  # expect: DST216
    torch.cuda.manual_seed_all(args.seed)
    model = DDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(args.epochs):
        for x, y in loader:
            t = torch.randint(0, diffusion.steps, (x.shape[0],), device=x.device)
            noise = torch.randn_like(x)
            pred = model(diffusion.noised(x, t, noise), t, y)
            loss = F.mse_loss(pred, noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
