"""A callback of the HF Trainer stops the training by the clock of this process."""
# static: needs transformers
# needs: transformers

import time

from transformers import Trainer, TrainerCallback, TrainingArguments


class StopAfter(TrainerCallback):
    def __init__(self, seconds):
        self.deadline = time.time() + seconds

    def on_step_end(self, args, state, control, **kwargs):
        if time.time() > self.deadline:
            control.should_training_stop = True  # expect: DST102
        return control


def main(model, dataset):
    args = TrainingArguments("out", max_steps=1000)
    trainer = Trainer(model=model, args=args, train_dataset=dataset, callbacks=[StopAfter(3600)])
    trainer.train()
