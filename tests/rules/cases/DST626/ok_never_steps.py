import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision, ShardingStrategy


def main(net, loader):
    model = FSDP(net)
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = GradScaler()
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
    print(scaler.get_scale())
