import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, batches, scale):
    model = DDP(net)
    for batch in batches:

        def ahead():
            return model(batch).mean()

        def back(loss):
            loss.backward()

        loss = ahead()
        if scale is not None:
            loss *= scale
        with model.no_sync():  # expect: DST308
            back(loss)
