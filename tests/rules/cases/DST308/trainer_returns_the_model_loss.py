from transformers import Trainer


class Own(Trainer):
    def compute_loss(self, model, inputs, **kwargs):
        out = model(**inputs)
        loss = out.loss
        return loss
