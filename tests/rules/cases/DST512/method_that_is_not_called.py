import os

import torch.distributed as dist


class Trainer:
    def is_main_process(self):
        return dist.get_rank() == 0

    def save(self, path):
        if self.is_main_process:  # expect: DST512
            open(path, "w").close()
