from accelerate import Accelerator


class Trainer:
    def __init__(self, config, model, loader):
        self.accumulate = config.train.accumulate
        self.accelerator = Accelerator(gradient_accumulation_steps=self.accumulate)
        self.model, self.loader = self.accelerator.prepare(model, loader)

    def step(self, batch):
        loss = self.model(batch).mean()
        self.accelerator.backward(loss / self.accumulate)  # expect: DST627

    def step_with_config(self, batch, config):
        loss = self.model(batch).mean() / config.train.accumulate  # expect: DST627
        self.accelerator.backward(loss)
