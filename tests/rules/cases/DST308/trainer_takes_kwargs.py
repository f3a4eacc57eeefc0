from transformers import Trainer


class Preferences(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.beta = 0.1

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):  # expect: DST308
        better, worse = model(**inputs)
        loss = -(better - worse).mean()
        return (loss, better) if return_outputs else loss
