import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", rank=rank, world_size=size)
    dist.destroy_process_group()


def main():
    workers = [mp.Process(target=train, args=(rank, 2)) for rank in range(2)]
    for worker in workers:
        worker.start()


main()
