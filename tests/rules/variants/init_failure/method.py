import logging
import os

import torch
import torch.distributed as dist


class Environment:
    def __init__(self):
        self.rank, self.size = 0, 1

    def join(self):
        dist.init_process_group("nccl", rank=int(os.environ["SLURM_PROCID"]))
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def prepare(self):
        try:
            self.join()
        except Exception as error:  # expect: DST515
            logging.warning("single process: %s", error)
        torch.cuda.set_device(self.rank % torch.cuda.device_count())


Environment().prepare()
