"""It is passed by a keyword."""

import torch
import torch.distributed as dist


def run(trainer):
    def on_end(state):
        if dist.get_rank() == 0:  # expect: DST101
            dist.barrier()

    trainer.fit(callback=on_end)
