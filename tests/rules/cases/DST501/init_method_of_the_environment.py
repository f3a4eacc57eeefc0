import os

import torch.distributed as dist

PLACE = os.environ["LOCAL_RANK"]


def main():  # expect: DST501
    dist.init_process_group("gloo", init_method="env://")


if __name__ == "__main__":
    main()
