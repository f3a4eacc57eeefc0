"""What fails on all ranks is not passed over, by whatever it is decided."""
# static: it fails, as it should

import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()
        self.is_ready = False

    def report(self):
        if not self.is_ready:
            raise RuntimeError("not ready")
        print("ready", self.rank)

    def run(self):
        self.report()
        if self.rank == 0:
            dist.barrier()


dist.init_process_group("gloo")
Trainer().run()
