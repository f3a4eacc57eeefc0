import torch.multiprocessing as mp
from restore import restore

mp.spawn(main)
