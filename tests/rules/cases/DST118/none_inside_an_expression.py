import torch
import torch.distributed as dist


def in_a_list(parameters):
    grads = [dist.all_reduce(p.grad) for p in parameters]  # expect: DST118
    return sum(g.norm() for g in grads if g is not None)


def read_in_a_branch(params, approx):
    grads = [dist.all_reduce(p.grad) if p.requires_grad else None for p in params]  # expect: DST118
    if approx:
        return 0
    return sum(g.norm() for g in grads if g is not None)


def in_a_dict(losses):
    means = {name: dist.all_reduce(value) for name, value in losses.items()}  # expect: DST118
    print(means)


def in_a_tuple(loss, count):
    loss, count = dist.all_reduce(loss), dist.all_reduce(count)  # expect: DST118, DST118
    return loss / count


def in_a_display(loss, count):
    both = [dist.all_reduce(loss), count]  # expect: DST118
    return both[0] / both[1]


def stacked(values):
    return torch.stack([dist.all_reduce(each) for each in values])  # expect: DST118


def summed(values):
    return sum(dist.all_reduce(each) for each in values)  # expect: DST118


def logged(log, loss):
    log({"loss": dist.all_reduce(loss)})  # expect: DST118


def divided(loss):
    return dist.all_reduce(loss) / dist.get_world_size()  # expect: DST118


def total(value):
    return dist.all_reduce(value)  # expect: DST118


def use_of_total(value):
    print(total(value) / 2)


class Meter:
    def reduced(self, value):
        return dist.all_reduce(value)  # expect: DST118

    def show(self, value):
        mean = self.reduced(value) / 2
        print(mean)


def added(loss, other):
    loss += dist.all_reduce(other)  # expect: DST118
    return loss
