import wandb


class Log:
    def __init__(self, config):
        if config.log_wandb:
            wandb.init(project="x")  # expect: DST905
