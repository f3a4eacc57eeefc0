import argparse

args = argparse.Namespace(rank=0, world_size=1)
