import torch


def predict(net, batch):
    net.eval()
    with torch.no_grad():
        return net(batch)
