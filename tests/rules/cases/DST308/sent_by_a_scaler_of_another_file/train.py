import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


from scaling import Scaler


def train(model, scaler, optimizer, loader, config):
    for index, batch in enumerate(loader):
        loss = model(batch).mean() / config.accum
        scaler(  # expect: DST308
            loss,
            optimizer,
            parameters=model.parameters(),
            update=(index + 1) % config.accum == 0 or index + 1 == len(loader),
        )
        if (index + 1) % config.accum == 0 or index + 1 == len(loader):
            optimizer.zero_grad()


def main(net, loader, config):
    dist.init_process_group("nccl")
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, Scaler(), optimizer, loader, config)
