import torch.distributed as dist


def main():
    from core import meet

    if dist.get_rank() == 0:  # expect: DST101
        meet()
