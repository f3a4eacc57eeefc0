import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from data import Box, again, make, other

dist.init_process_group("nccl")
model = DDP(net())
loaders = make(data)
box = Box(None, data)
while True:
    loaders = loaders["tree"]
    box = box.inner
    loaders = again(loaders)
    loaders = other({"x": loaders, "tree": loaders})
for epoch in range(10):
    for batch in loaders["loader"]:
        model(batch).mean().backward()
    for batch in box.loader:
        model(batch).mean().backward()
score = sum(float(model(b)) for b in loaders["loader"]) / len(loaders["loader"])
print("val", score)
