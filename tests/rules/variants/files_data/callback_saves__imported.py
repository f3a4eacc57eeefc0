"""A base class of the project between the callback and transformers."""

import transformers


class Base(transformers.TrainerCallback):
    def on_train_begin(self, args, state, control, **kwargs):
        self.best = None


class Peft(Base):
    def on_save(self, args, state, control, **kwargs):
        kwargs["model"].save_pretrained(args.output_dir + "/adapter")  # expect: DST406
        return control
