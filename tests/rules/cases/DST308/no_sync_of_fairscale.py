import deepspeed
from fairscale.nn import FullyShardedDataParallel
from torch.nn.parallel import DistributedDataParallel

model = FullyShardedDataParallel(net)
first, second = model(one).mean(), model(two).mean()
print(first, second)
with model.no_sync():
    first.backward()
second.backward()
