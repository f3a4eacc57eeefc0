import torch
import torch.distributed as dist


def set_up(args):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)  # expect: DST216
    torch.cuda.set_device(args.gpu)
