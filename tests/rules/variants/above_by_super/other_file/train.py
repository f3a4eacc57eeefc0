import torch.distributed as dist
from base import Base


class T(Base):
    def save(self):
        if dist.get_rank() == 0:  # expect: DST101
            super().save()
