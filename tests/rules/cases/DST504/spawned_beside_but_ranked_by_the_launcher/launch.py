import torch.multiprocessing as mp
from setup import setup

mp.spawn(main)
