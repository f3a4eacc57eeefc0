import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    dist.init_process_group("nccl")  # expect: DST502
    rank = dist.get_rank()
    device_id = rank % torch.cuda.device_count()
    model = torch.nn.Linear(2, 2).to(device_id)
    DDP(model, device_ids=[device_id])
    if device_id == 0:
        print("started")
    dist.barrier()


if __name__ == "__main__":
    main()
