from transformers import Trainer


class Preferences(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        better, worse = model(**inputs)
        loss = -(better - worse).mean()
        return (loss, better) if return_outputs else loss
