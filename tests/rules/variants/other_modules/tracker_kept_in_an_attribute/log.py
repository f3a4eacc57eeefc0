class Log:
    def __init__(self, config):
        if config.log_wandb:
            import wandb

            self._wandb = wandb
            if self._wandb.run is None:
                self._wandb.init(project="x")  # expect: DST905
