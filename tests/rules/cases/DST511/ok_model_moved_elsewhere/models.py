from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2).cuda()


class Plain(nn.Module):
    pass


def build(args):
    model = Plain()
    if args.gpu is not None:
        model = model.cuda(args.gpu)
    return model


def place(model, device):
    model.to(device)
