from accelerate import Accelerator


class Trainer:
    def __init__(self):
        self.accelerator = Accelerator()
        self.optimizer = Adam(self.model.generator.parameters())  # expect: DST619

    def prepare(self):
        self.model, self.adam = self.accelerator.prepare(self.model, self.optimizer)
