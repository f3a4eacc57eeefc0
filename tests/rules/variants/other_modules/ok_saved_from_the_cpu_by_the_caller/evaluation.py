import torch


def evaluate(net, path):
    net.load_state_dict(torch.load(path))
    return net.cuda()
