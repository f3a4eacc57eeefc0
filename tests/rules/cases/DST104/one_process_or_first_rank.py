from torch.nn.parallel import DistributedDataParallel as DDP


def train(args, model, batches, evaluate, rank):
    if args.local_rank != -1:
        model = DDP(model, device_ids=[args.local_rank])
    worse = 0
    for batch in batches:
        model(batch).mean().backward()
        if args.local_rank in (-1, 0):
            worse += evaluate(model)
            if worse > args.patience:
                break  # expect: DST104
