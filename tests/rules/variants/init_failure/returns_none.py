import datetime

import torch.distributed as dist


def group_or_none(seconds):
    try:
        print("joining")
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=seconds))
        return dist.group.WORLD
    except:  # expect: DST515
        return None


group = group_or_none(60)
train(group)
