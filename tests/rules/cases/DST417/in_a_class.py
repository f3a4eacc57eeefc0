import argparse
import os

import torch


class Trainer:
    def __init__(self, args, model):
        self.args, self.model, self.step = args, model, 0
        self.state = None

    def save(self, name):
        state = {"model": self.model.state_dict(), "step": self.step, "args": self.args}
        torch.save(state, os.path.join(self.args.out, name))

    def load(self, name):
        self.state = torch.load(os.path.join(self.args.out, name))  # expect: DST417
        self.restore()

    def restore(self):
        self.model.load_state_dict(self.state["model"])
        self.step = self.state["step"]


def main(model):
    parser = argparse.ArgumentParser()
    trainer = Trainer(parser.parse_args(), model)
    trainer.load("last.pt")
    trainer.save("last.pt")
