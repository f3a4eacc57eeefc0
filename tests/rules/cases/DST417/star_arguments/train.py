import argparse
import os

import utils


def train(args, model, optimizer):
    path = os.path.join(args.output_dir, "checkpoint.pth")
    utils.restart(os.path.join(args.output_dir, "checkpoint.pth"), model=model)
    save_dict = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "args": args}
    utils.save_on_master(save_dict, path)


if __name__ == "__main__":
    train(argparse.ArgumentParser().parse_args(), None, None)
