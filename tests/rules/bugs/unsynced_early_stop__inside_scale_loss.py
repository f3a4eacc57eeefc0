"""A rank leaves before the backward of apex's wrapper, in which the others wait for it."""
# static: needs apex on a GPU
# needs: apex

import torch
from apex import amp
from apex.parallel import DistributedDataParallel

torch.distributed.init_process_group("nccl")
model = torch.nn.Linear(8, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer)
model = DistributedDataParallel(model)
for _ in range(100):
    loss = model(torch.randn(4, 8).cuda()).sum()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        if scaled_loss.item() > 1e4:
            break  # expect: DST102
        scaled_loss.backward()
    optimizer.step()
