import torch.distributed as dist


class Base:
    def is_main_process(self):
        return dist.get_rank() == 0

    @property
    def is_main(self):
        return dist.get_rank() == 0
