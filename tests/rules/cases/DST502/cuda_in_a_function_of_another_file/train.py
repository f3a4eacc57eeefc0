import torch.distributed as dist
from models import build


def main():
    dist.init_process_group("nccl")  # expect: DST502
    model = build()
    dist.barrier()
    return model


if __name__ == "__main__":
    main()
