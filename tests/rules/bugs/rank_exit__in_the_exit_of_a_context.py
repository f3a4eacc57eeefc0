"""A context manager that ends its process on the way out is not left twice."""
# effect: hang

import torch.distributed as dist


class MainFirst:
    def __init__(self, first):
        self.first = first

    def __enter__(self):
        if not self.first:
            dist.barrier()

    def __exit__(self, *details):
        if self.first:
            exit(0)  # expect: DST104


def main():
    dist.init_process_group("gloo")
    with MainFirst(dist.get_rank() == 0):
        print("rank", dist.get_rank())


if __name__ == "__main__":
    main()
