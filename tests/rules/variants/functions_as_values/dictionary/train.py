import torch.distributed as dist
import loops

ACTIONS = {"meet": loops.meet, "no": print}


def main():
    if dist.get_rank() == 0:  # expect: DST101
        ACTIONS["meet"]()
