"""T31. A batch-size search around a model from outside that only infers."""
# needs: accelerate

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size

accelerator = Accelerator(cpu=True)
dev = accelerator.device
model = torch.nn.Embedding(16, 4)


@find_executable_batch_size(starting_batch_size=8)
def probe(batch_size):
    with torch.no_grad():
        model(torch.ones(batch_size, 32, dtype=torch.long, device=dev))
    return batch_size


size = probe()
sizes = accelerator.gather(torch.tensor([size]))
print("size =", sizes.min().item())
accelerator.end_training()
