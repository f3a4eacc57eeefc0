from helpers import make_scaler, unsharded
from torch.amp import GradScaler


def other(args, net):
    model = unsharded(net)
    scaler: GradScaler = make_scaler()
    for x in args.loader:
        scaler.scale(model(x).mean()).backward()
        scaler.step(args.optimizer)
        scaler.update()
