import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(args, model, optimizer, loader):
    model = DDP(model)
    for batch in loader:
        with torch.autocast(device_type="cuda", enabled=args.mixed_precision):  # expect: DST605
            loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def other_type(args, model, optimizer, loader):
    model = DDP(model)
    for batch in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=args.mixed_precision):
            loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def switched_off(model, optimizer, loader):
    model = DDP(model)
    use_amp = False
    for batch in loader:
        with torch.autocast("cuda", enabled=use_amp):
            loss = model(batch).mean()
        loss.backward()
        optimizer.step()
