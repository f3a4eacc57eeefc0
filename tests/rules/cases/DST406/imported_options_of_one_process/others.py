from argparse import Namespace

args = Namespace(world_size=1)
