import collections

import torch.distributed as dist


def for_the_effect(values, more):
    [dist.all_reduce(each) for each in values]
    _ = [dist.all_reduce(each) for each in more]
    list(dist.all_reduce(each) for each in values)
    collections.deque((dist.all_reduce(each) for each in values), maxlen=0)
    dist.all_reduce(values[0]), dist.all_reduce(values[1])
    return values


def waited(values):
    handles = [dist.all_reduce(each, async_op=True) for each in values]
    for each in handles:
        each.wait()


def perhaps_waited(values, overlap):
    handles = [dist.all_reduce(each, async_op=overlap) for each in values]
    for each in handles:
        each.wait()


def stored_for_the_effect(values):
    done = [dist.all_reduce(each) for each in values]
    return values


def not_needed(value, count):
    _, count = dist.all_reduce(value), count * 2
    return value / count


def kept(values):
    handles = []
    for each in values:
        handles.append(dist.all_reduce(each))
    return values


def total(value):
    return dist.all_reduce(value)


def use_of_total(value):
    total(value)
    return value


class Meter:
    def reduced(self, value):
        return dist.all_reduce(value)

    def show(self, value):
        self.reduced(value)
        print(value)


def returned_in_a_list(values):
    return [dist.all_reduce(each) for each in values]


returned_in_a_list([])
