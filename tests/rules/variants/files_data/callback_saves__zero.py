"""The twin: the hooks ask the state, the arguments or the control whether this is rank 0."""

import os

import torch
from transformers import TrainerCallback, TrainerState


class Keep(TrainerCallback):
    def on_save(self, args, state, control, model=None, **kwargs):
        if state.is_world_process_zero:
            model.save_pretrained(os.path.join(args.output_dir, "last"))

    def on_train_end(self, args, state, control, model=None, **kwargs):
        if not args.should_save:
            return control
        torch.save(model.head.state_dict(), os.path.join(args.output_dir, "head.bin"))
        return control


class Other:
    def on_save(self, args, state, control, model=None, **kwargs):
        model.save_pretrained(args.output_dir)


def restored(path) -> TrainerState:
    return TrainerState.load_from_json(path)
