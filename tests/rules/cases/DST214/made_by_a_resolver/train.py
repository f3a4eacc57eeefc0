import torch.multiprocessing as mp
from omegaconf import OmegaConf
from utils import folder_of_run, join

OmegaConf.register_new_resolver("folder_of_run", folder_of_run)


def main(config):
    print(config.folder)
    mp.spawn(join, args=(8,), nprocs=8)
