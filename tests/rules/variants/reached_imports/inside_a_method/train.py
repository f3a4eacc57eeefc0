import torch.distributed as dist


class Trainer:
    def __init__(self):
        self.rank = dist.get_rank()

    def save(self):
        from loops import meet as wait

        if self.rank == 0:  # expect: DST101
            wait()
