# The framework calls this method, and the file itself never does.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import Trainer


class Own(Trainer):
    def _save(self, folder, state=None):
        super()._save(folder, state)
        torch.save(self.args, folder + "/args.bin")
        if self.args.process_index == 0:
            print("saved")
