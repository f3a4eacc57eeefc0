"""SystemExit with the status, from a function that trains and saves."""

import torch
import torch.distributed as dist


def main(args, model, loader, optimizer):
    dist.init_process_group("nccl")
    if not args.evaluate:
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.save(model.state_dict(), args.out)  # expect: DST406
        raise SystemExit(1)
    print(model)
