import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


def launch(size):
    mp.spawn(train, args=(size,), nprocs=size)


def main(size=2):
    if size > 1:
        launch(size)
    else:
        train(0, 1)


main()  # expect: DST516
