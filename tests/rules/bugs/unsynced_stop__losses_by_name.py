"""The losses come by name out of the wrapped model: their sum is the rank's own, and one stops."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.near = torch.nn.Linear(2, 1)
        self.far = torch.nn.Linear(2, 1)

    def forward(self, batch):
        return {"near": self.near(batch), "far": self.far(batch)}


def train(model, batches, optimizer):
    for batch in batches:
        outputs = model(batch)
        losses = {name: output.abs().mean() for name, output in outputs.items()}
        loss = sum(losses.values())
        optimizer.zero_grad()
        if loss.item() > 1e4:
            break  # expect: DST102
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = DDP(Heads())
    scale = 1e9 if dist.get_rank() == 0 else 1.0
    train(
        model,
        [scale * torch.ones(4, 2), torch.ones(4, 2)],
        torch.optim.SGD(model.parameters(), lr=0.1),
    )
    dist.barrier()
    dist.destroy_process_group()
