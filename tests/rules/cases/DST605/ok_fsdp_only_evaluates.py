import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision


def main(net, loader):
    half = MixedPrecision(param_dtype=torch.float16)
    model = FSDP(net, mixed_precision=half)
    optimizer = torch.optim.AdamW(model.parameters())
    with torch.no_grad():
        print(optimizer, sum(model(batch).mean() for batch in loader))
