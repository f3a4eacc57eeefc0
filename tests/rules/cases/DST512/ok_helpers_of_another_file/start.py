import helpers


def begin(args):
    helpers.init_distributed_mode(args)
