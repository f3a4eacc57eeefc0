"""A search compares values of all ranks, and rank 0 alone asks for the best again."""
# effect: hang

import torch
import torch.distributed as dist


def score(point):
    value = torch.tensor([(point - 3.0) ** 2])
    gathered = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, value)
    dist.barrier()
    return sum(gathered).item()


def search(left, right):
    while right - left >= 3:
        first, second = left + (right - left) // 3, right - (right - left) // 3
        if score(first) < score(second):
            right = second
        else:
            left = first
    return left


if __name__ == "__main__":
    dist.init_process_group("gloo")
    best = search(0, 9)
    if dist.get_rank() == 0:  # expect: DST101
        print("score of", best, "is", score(best))
    dist.barrier()
