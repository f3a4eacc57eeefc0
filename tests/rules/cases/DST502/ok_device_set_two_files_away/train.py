import torch.distributed as dist
from models import build


def main():
    model = build()
    dist.init_process_group("nccl")
    dist.barrier()
    return model


if __name__ == "__main__":
    main()
