SHARD = False


def options(args):
    return dict(devices=args.devices, num_nodes=args.nodes, use_distributed_sampler=SHARD)
