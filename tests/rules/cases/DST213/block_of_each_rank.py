import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

accelerator = Accelerator()
data = load()
size = len(data) // accelerator.num_processes
start = accelerator.process_index * size
loader = DataLoader(data[start : start + size], batch_size=4, shuffle=True)
model, loader = accelerator.prepare(torch.nn.Linear(3, 1), loader)  # expect: DST213
for batch in loader:
    accelerator.backward(model(batch).mean())
