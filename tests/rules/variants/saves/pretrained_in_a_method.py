"""A method of a trainer saves the model that another method has wrapped."""

import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForSeq2SeqLM


class Tuning:
    def __init__(self, name, output):
        self.rank = dist.get_rank()
        self.output = output
        self.net = self._wrap(AutoModelForSeq2SeqLM.from_pretrained(name))

    def _wrap(self, net):
        return FSDP(net, device_id=self.rank)

    def finish(self):
        if self.rank == 0:  # expect: DST407
            self.net.save_pretrained(self.output)
        dist.barrier()


dist.init_process_group("nccl")
tuning = Tuning("t5-small", "out")
tuning.finish()
