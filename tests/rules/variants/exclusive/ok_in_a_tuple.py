import torch.distributed as dist


def main(args):
    if args.mode in ("server", "remote") and dist.get_rank() == 0:
        print("server")
    elif args.mode == "local":
        dist.barrier()
