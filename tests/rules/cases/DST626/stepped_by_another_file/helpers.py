import torch


def make_scaler():
    return torch.amp.GradScaler("cuda")


def step(args, loss, scaler):
    if scaler is None:
        loss.backward()
        args.optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.step(args.optimizer)
        scaler.update()
