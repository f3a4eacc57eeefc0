class Log:
    def __init__(self, config):
        self.config = config
        self.setup()

    def setup(self):
        if self.config.log_wandb:
            import wandb

            self._wandb = wandb
            self._wandb.init(project="x")  # expect: DST905
