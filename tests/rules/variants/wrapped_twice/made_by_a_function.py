import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def build(width):
    net = torch.nn.Linear(width, 1).cuda()
    net = torch.nn.SyncBatchNorm.convert_sync_batchnorm(net)
    return DDP(net, device_ids=[torch.cuda.current_device()])


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = build(4)
    print("built", sum(each.numel() for each in model.parameters()))
    wrapped = DDP(model, find_unused_parameters=True)  # expect: DST624
    wrapped(torch.ones(1, 4).cuda()).sum().backward()


main()
