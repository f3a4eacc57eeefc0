import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Vae(nn.Module):
    def sample(self, mean, deviation):
        return mean + deviation * torch.randn_like(deviation)

    def forward(self, x):
        mean, deviation = self.encoder(x)
        z = self.sample(mean, deviation)
        return (self.decoder(z) - x).square().mean()


def main(args, loader):
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)  # expect: DST216
    model = DDP(Vae().cuda(), device_ids=[args.gpu])
    for x in loader:
        loss = model(x.cuda())
        loss.backward()
