import torch
import torch.distributed as dist


def late(params, optimizer):
    works = []
    for p in params:
        works.append(dist.all_reduce(p.grad, async_op=True))  # expect: DST119
    torch.nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    for work in works:
        work.wait()


def late_in_a_comprehension(params, opt, loader):
    for batch in loader:
        batch.loss().backward()
        works = [dist.all_reduce(p.grad.data, async_op=True) for p in params]  # expect: DST119
        opt.step()
        [work.wait() for work in works]


def in_time(params, optimizer, scheduler):
    works = [dist.all_reduce(p.grad, async_op=True) for p in params]
    scheduler.step()
    for work in works:
        work.wait()
    optimizer.step()


def by_a_helper(params, optimizer):
    works = []
    for p in params:
        works.append(dist.all_reduce(p.grad, async_op=True))
    drain(works)
    optimizer.step()


def synchronized(params, optimizer):
    works = []
    for p in params:
        works.append(dist.all_reduce(p.grad, async_op=True))
    torch.cuda.synchronize()
    optimizer.step()


def other_tensors(buffers, optimizer):
    works = []
    for b in buffers:
        works.append(dist.all_reduce(b, async_op=True))
    optimizer.step()
    for work in works:
        work.wait()
