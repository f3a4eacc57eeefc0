# They read the variable when they import torch.
import os

import torch
from harness import Case


class Sharding(Case):
    def run_all(self):
        os.environ["TORCH_DISTRIBUTED_DEBUG"] = "DETAIL"
