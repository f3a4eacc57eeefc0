import torch.multiprocessing as mp
from place import here
from work import work

if __name__ == "__main__":
    mp.spawn(work, args=(here(),), nprocs=here().gpus)
