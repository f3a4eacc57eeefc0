import sys

import helpers
import wandb

if helpers.is_main_process():  # expect: DST512
    wandb.login()


def train(args):
    print(helpers.get_rank())  # expect: DST512
    helpers.init_distributed_mode(args)
    helpers.seed_all(1)
    if helpers.is_main_process():
        wandb.log({"a": 1})


if __name__ == "__main__":
    train(sys.argv)
