import torch
import torch.distributed as dist


def train(rank, loader, bottom, top):
    optimizer = torch.optim.SGD((bottom if rank == 0 else top).parameters(), lr=0.1)
    for batch, label in loader:
        if rank == 0:
            middle = bottom(batch)
            dist.send(middle, dst=1)
        if rank == 1:
            middle = torch.zeros(4, requires_grad=True)
            dist.recv(middle, src=0)
            optimizer.zero_grad()
            (top(middle) - label).pow(2).mean().backward()
            optimizer.step()
            dist.send(middle.grad, dst=0)
        if rank == 0:
            optimizer.zero_grad()
            grad = torch.zeros_like(middle)
            dist.recv(grad, src=1)
            middle.backward(gradient=grad)
            optimizer.step()
        dist.barrier()


def main(loader, bottom, top):
    dist.init_process_group("gloo")
    train(dist.get_rank(), loader, bottom, top)
