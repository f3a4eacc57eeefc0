import torch.distributed as dist


class Overlap:
    def __init__(self, net, optimizer):
        self.net, self.optimizer = net, optimizer
        self.pending = []
        for p in net.parameters():
            p.register_post_accumulate_grad_hook(self.reduce)

    def reduce(self, p):
        self.pending.append(dist.all_reduce(p.grad, async_op=True))  # expect: DST119

    def train(self, batch):
        self.net(batch).sum().backward()
        self.optimizer.step()
        self.pending.clear()


class Passed:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.works = []

    def reduce(self, p):
        self.works.append(dist.all_reduce(p.grad, async_op=True))

    def train(self, batch, drain):
        drain(self.works)
        self.optimizer.step()


class Elsewhere:
    def __init__(self):
        self.handles = []

    def reduce(self, p):
        self.handles.append(dist.all_reduce(p.grad, async_op=True))
