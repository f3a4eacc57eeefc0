import torch


def checkpoint(net, epoch):
    torch.save(net.state_dict(), f"epoch_{epoch}.pt")  # expect: DST406


def after_epoch(model, epoch):
    if epoch % 2 == 0:
        checkpoint(model.module, epoch)
