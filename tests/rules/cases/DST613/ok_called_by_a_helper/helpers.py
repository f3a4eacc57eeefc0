from torch.nn.parallel import DistributedDataParallel as DDP


def replicate(net):
    return DDP(net)


def outputs_of(model, x):
    width = model.module.width(x)
    return model(x)[:width]


def go_back(loss, optimizer):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
