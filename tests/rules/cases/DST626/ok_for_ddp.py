import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, loader):
    if args.fsdp:
        model = FSDP(net)
        scaler = None
    else:
        model = DDP(net)
        scaler = GradScaler()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        loss = model(batch).mean()
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
