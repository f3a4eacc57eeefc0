import torch.distributed as dist
from helpers import make_scaler, step
from torch.amp import GradScaler
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(args, net):
    dist.init_process_group("nccl")
    model = FSDP(net)
    scaler: GradScaler = make_scaler()  # expect: DST626
    for x in args.loader:
        step(args, model(x).mean(), scaler)
