from accelerate import Accelerator

accelerator = Accelerator()
from torch.nn.parallel import DistributedDataParallel as DDP

net = accelerator.prepare(net)
net = net.module if isinstance(net, DDP) else net
loss = net(x)  # expect: DST613
loss.backward()
