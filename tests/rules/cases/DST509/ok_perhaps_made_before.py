import torch.distributed as dist

from lib import init_cluster, run


def report():
    print(dist.get_rank())


def perhaps(args):
    if args.cluster:
        dist.init_process_group("nccl")


def first(args):
    perhaps(args)
    report()
    dist.init_process_group("nccl")


def second(args):
    init_cluster(args)
    report()
    dist.init_process_group("nccl")


def third(args):
    if args.multi:
        report()
    else:
        dist.init_process_group("nccl")


def fourth(args):
    try:
        report()
    except ValueError:
        pass
    dist.init_process_group("nccl")


class Late:
    def __call__(self):
        dist.barrier()


def fifth():
    late = Late()
    dist.init_process_group("nccl")
    late()
