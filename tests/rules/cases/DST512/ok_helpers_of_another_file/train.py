import sys

import helpers
import wandb
from start import begin


def train(args):
    helpers.init_distributed_mode(args)
    helpers.seed_all(1)
    if helpers.is_main_process():
        wandb.log({"a": 1})


def main(args):
    begin(args)
    if helpers.is_main_process():
        wandb.login()
    begin(args)


if __name__ == "__main__":
    train(sys.argv)
    main(sys.argv)
