import os

import torch.distributed as dist


class Trainer:
    def is_main(self):
        return dist.get_rank() == 0 if dist.is_initialized() else True

    def setup(self):
        dist.init_process_group("gloo")

    def run(self, path):
        if self.is_main():  # expect: DST512
            os.makedirs(path)
        self.setup()
