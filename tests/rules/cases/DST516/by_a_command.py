import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


import click


@click.command()
def main():
    mp.spawn(train, args=(2,), nprocs=2)


if __name__ == "__main__":
    main()
