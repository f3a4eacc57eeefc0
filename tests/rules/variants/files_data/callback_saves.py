"""A callback of the Trainer writes on each rank, as the hooks run on all of them."""

import json
import os

import torch
from transformers import TrainerCallback


class Keep(TrainerCallback):
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def on_save(self, args, state, control, model=None, **kwargs):
        folder = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
        model.save_pretrained(folder)  # expect: DST406
        self.tokenizer.save_pretrained(folder)  # expect: DST406

    def on_train_end(self, args, state, control, model=None, **kwargs):
        path = os.path.join(args.output_dir, "head.bin")
        torch.save(model.head.state_dict(), path)  # expect: DST406
        self._history(state, args.output_dir)

    def _history(self, state, out):
        with open(os.path.join(out, "history.json"), "w") as file:
            json.dump(state.log_history, file)  # expect: DST406
