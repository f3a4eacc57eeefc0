import os
from multiprocessing import Process

import torch

from train import main


def start(rank):
    os.environ["LOCAL_RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(torch.cuda.device_count())
    main()


if __name__ == "__main__":
    workers = [Process(target=start, args=(rank,)) for rank in range(torch.cuda.device_count())]
    for worker in workers:
        worker.start()
