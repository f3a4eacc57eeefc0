"""An object that holds itself in a list is handed to a function, with a value of each rank's."""

import torch
import torch.distributed as dist


class Runner:
    def __init__(self, rank):
        self.hooks = [self]
        self.stop = False
        self.rank = rank

    def finished(self):
        return any(hook.stop for hook in self.hooks)


def describe(runner, loss):
    return f"{loss:.3f} {len(runner.hooks)}"


dist.init_process_group("gloo")
runner = Runner(dist.get_rank())
for _ in range(2):
    text = describe(runner, torch.rand(1).item())
    if text and not runner.finished():
        print(text)
    if runner.finished():
        break
    dist.barrier()
dist.destroy_process_group()
