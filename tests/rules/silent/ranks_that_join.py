"""A rank that has joined takes part in whatever the others do."""
# needs: horovod

import horovod.torch as hvd
import torch


def main():
    hvd.init()
    if hvd.rank() == 0:
        hvd.join()
    else:
        hvd.allgather(torch.ones(1))
        hvd.join()


if __name__ == "__main__":
    main()
