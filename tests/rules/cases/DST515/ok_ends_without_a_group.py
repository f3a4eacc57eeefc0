import sys
import time

import torch
import torch.distributed as dist


def join(attempts):
    for _ in range(attempts):
        try:
            dist.init_process_group("nccl")
            return True
        except Exception:
            time.sleep(1)
    return False


def once():
    try:
        dist.init_process_group("nccl")
        return True
    except RuntimeError:
        return False


def again():
    for _ in range(3):
        try:
            dist.init_process_group("nccl")
            return
        except Exception:
            time.sleep(1)
    raise RuntimeError("no group")


def last():
    for attempt in range(3):
        try:
            dist.init_process_group("nccl")
            break
        except RuntimeError:
            if attempt == 2:
                raise


def there():
    try:
        dist.init_process_group("nccl")
    except RuntimeError:
        print("there is a group already")


if not join(3):
    sys.exit(1)
joined = once()
assert joined
again()
last()
there()
torch.save({}, "model.pt")
