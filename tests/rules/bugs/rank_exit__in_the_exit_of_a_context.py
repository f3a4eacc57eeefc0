"""A context manager that ends its process on the way out is not left twice."""
# effect: hang

import torch.distributed as dist


class Once:
    def __init__(self, is_last):
        self.is_last = is_last

    def __enter__(self):
        return self

    def __exit__(self, *details):
        if self.is_last:
            exit(0)  # expect: DST104


def main():
    dist.init_process_group("gloo")
    with Once(dist.get_rank() == 0):
        print("rank", dist.get_rank())
    dist.barrier()


if __name__ == "__main__":
    main()
