import torch.distributed as dist
from dataclasses import dataclass
from typing import Callable
from loops import meet


@dataclass
class T:
    sync: Callable = meet

    def save(self):
        if dist.get_rank() == 0:  # expect: DST101
            self.sync()


def main():
    T(sync=meet).save()
