import os

import torch
import torch.distributed as dist


def main(args, data):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    seen = []
    names = []
    for name in args.names:
        seen.append(dist.get_rank())
        names.append(name)
    for name in names:
        torch.save(data[name], f"out/{name}.pt")  # expect: DST406
    print(seen)


if __name__ == "__main__":
    main()
