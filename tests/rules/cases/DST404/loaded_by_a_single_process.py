import torch
import torch.distributed as dist

dist.init_process_group("nccl")
net.cuda(args.gpu)
if args.gpu is None:
    net.load_state_dict(torch.load("a.pt"))
