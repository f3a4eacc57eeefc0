import torch
import torch.distributed as dist


def main(args):
    if args.distributed:
        dist.init_process_group("nccl")
    model = torch.nn.Linear(2, 2)
    if args.gpu is not None:
        torch.cuda.set_device(args.gpu)
        return model.cuda(args.gpu)
    return model.cuda()


main(None)
