import torch.distributed as dist


def main(path=None):
    if path is None and dist.get_rank() == 0:
        print("nothing to load")
    elif path == "last.pt":
        dist.barrier()
