# torchrun does not start this script.
import os

import torch.distributed as dist

PLACE = os.environ["LOCAL_RANK"]


def main():
    dist.init_process_group("gloo", init_method="tcp://10.0.0.1:2900", rank=0, world_size=2)


if __name__ == "__main__":
    main()
