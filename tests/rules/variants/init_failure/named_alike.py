from torch.distributed import get_rank, get_world_size
from torch.distributed import init_process_group as connect


def distributed_info(backend):
    info = {"rank": 0, "world": 1}
    try:
        connect(backend)
    except BaseException:  # expect: DST515
        print("no other processes")
    else:
        info.update(rank=get_rank(), world=get_world_size())
    return info


distributed_info("gloo")
