import torch.distributed as dist


def is_first(accelerator):
    return accelerator.process_index or 0 == 0  # expect: DST512


def main(args, rank):
    if args.local_rank == 0 or 1:  # expect: DST512
        print("first")
    first = rank or 0 == 0  # expect: DST512
    if first:
        open("report.txt", "w").close()
