import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


def main(args, net, loader):
    model = FSDP(net) if args.fsdp else net
    scaler = ShardedGradScaler() if args.fsdp else GradScaler()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        optimizer.zero_grad()
        scaler.scale(model(batch).mean()).backward()
        scaler.step(optimizer)
        scaler.update()
