import torch.distributed as dist
from callbacks import Checkpoint, FirstOnly
from torch.nn.parallel import DistributedDataParallel as DDP


def main(backbone, header, loader, out, local_rank):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    backbone = DDP(backbone, device_ids=[local_rank])
    header = DDP(header.to(local_rank), device_ids=[local_rank])
    save = Checkpoint(rank, out)
    other = FirstOnly(header if rank == 0 else None)
    for step, batch in enumerate(loader):
        header(backbone(batch)).mean().backward()
        save(step, backbone, header)
        other(step)
