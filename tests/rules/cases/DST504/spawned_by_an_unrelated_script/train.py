import torch.multiprocessing as mp

mp.spawn(main)
