import argparse


def parser():
    found = argparse.ArgumentParser()
    found.add_argument("--lr", type=float)
    return found


def options():
    return parser().parse_args()
