# torchrun does not start this script.
import os

import torch.distributed as dist

PLACE = os.environ["LOCAL_RANK"]


def main():
    dist.init_process_group("gloo", init_method=f"file://{PLACE}", rank=0, world_size=2)


if __name__ == "__main__":
    main()
