"""Rank 0 shows metrics that all have gathered: it would gather only if there were none."""

import torch
import torch.distributed as dist


class Metrics:
    def __init__(self, names):
        self.values = dict.fromkeys(names, 0.0)

    def gathered(self):
        tensors = {name: torch.tensor([value]) for name, value in self.values.items()}
        for tensor in tensors.values():
            dist.all_reduce(tensor)
        return {name: tensor.item() for name, tensor in tensors.items()}

    def _show(self, metrics=None):
        if dist.get_rank() != 0:
            return
        metrics = self.gathered() if metrics is None else metrics
        print(metrics)


def main(names):
    metrics = Metrics(names)
    found = metrics.gathered()
    metrics._show(metrics=found)
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    main(["loss", "accuracy"])
    dist.destroy_process_group()
