import torch
import torch.distributed as dist
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import loaders


def main(data, model, opt, epochs=3):
    dist.init_process_group("nccl")
    loader = loaders.make(data)
    fast = pl.MpDeviceLoader(loader, xm.xla_device())

    for epoch in range(epochs):
        for batch in fast:
            loss = model(batch).mean()
            loss.backward()
            opt.step()
