"""All ranks sum a tensor that nobody keeps; what comes behind it counts like anything else."""
# effect: hang

import torch
import torch.distributed


def main():
    torch.distributed.init_process_group("gloo")
    torch.distributed.broadcast(torch.tensor([1]), 0)
    if torch.distributed.get_rank() == 0:  # expect: DST101
        torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
