from torch.nn.parallel import DistributedDataParallel as DDP


def in_half(args, model: DDP):
    if args.fp16:
        model.half()  # expect: DST614
