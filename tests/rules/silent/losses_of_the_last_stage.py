"""The last stage has the losses of the model, the others stand-ins for as many."""

import torch
import torch.distributed as dist


class Pipeline:
    def __init__(self, outputs):
        self.outputs = outputs

    def mean_losses(self):
        if dist.get_rank() == dist.get_world_size() - 1:
            names = self.outputs[0].keys()
            return {name: torch.stack([out[name] for out in self.outputs]).mean() for name in names}
        return {"loss": torch.tensor(0.0)}

    def finish(self):
        losses = self.mean_losses()
        for value in losses.values():
            dist.broadcast(value, dist.get_world_size() - 1)
        return losses


if __name__ == "__main__":
    dist.init_process_group("gloo")
    print(Pipeline([{"loss": torch.tensor(1.0)}]).finish())
    dist.destroy_process_group()
