import torch.distributed as dist


def mean(x, world=dist.get_world_size()):  # expect: DST509
    dist.all_reduce(x)
    return x / world


class Settings:
    rank = dist.get_rank()  # expect: DST509


def main():
    dist.init_process_group("nccl")


if __name__ == "__main__":
    main()
