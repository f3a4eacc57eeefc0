from transformers import Trainer


class Own(Trainer):
    def compute_loss(self, model, inputs, num_items_in_batch=None):
        out = model(**inputs)
        loss = self.kd(out) * 4 / num_items_in_batch
        return loss
