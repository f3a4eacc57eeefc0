from transformers import Trainer


class Own(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):  # expect: DST308
        out = model(**inputs)
        loss = self.kd(out) * 4
        return loss
