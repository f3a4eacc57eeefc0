import torch.multiprocessing as mp

from work import worker

if __name__ == "__main__":
    mp.spawn(worker, args=("saved",), nprocs=4)
