"""Each turn reduces the score of a part of this rank."""

import torch
import torch.distributed as dist


def evaluate(net, pairs):
    rank, world = dist.get_rank(), dist.get_world_size()
    count = len(pairs)
    size = count // world + (count % world > 0)
    first = size * rank
    total = torch.zeros(1)
    for x, y in pairs[first : min(first + size, count)]:  # expect: DST109
        score = (net(x) - y).abs().mean()
        dist.all_reduce(score)
        total += score
    return total


def main(net, pairs):
    dist.init_process_group("gloo")
    print(evaluate(net, pairs))
