import deepspeed
import torch.distributed as dist
from naming import joined, step_of, tag_of


def main(args, net):
    engine, *_ = deepspeed.initialize(args=args, model=net)
    for step in range(10):
        tag = tag_of(args, step)
        engine.save_checkpoint(args.out, tag=tag)  # expect: DST410
        engine.save_checkpoint(args.out, tag=step_of(args, step))
        part = f"r{dist.get_rank()}"
        engine.save_checkpoint(args.out, tag=joined("steps", part))  # expect: DST410
        engine.save_checkpoint(args.out, tag=joined("steps", str(step)))
