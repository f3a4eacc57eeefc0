"""The twin: it asks for the first."""

import torch.distributed as dist
from records import Recorder


def main():
    dist.init_process_group("gloo")
    recorder = Recorder(dist.get_rank(), "out")
    print(recorder.path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
