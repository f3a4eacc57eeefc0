import torch


class ModelSaver:
    def __init__(self, folder):
        self.folder = folder

    def save(self, model, step):
        state = {
            name: value.cpu() if isinstance(value, torch.Tensor) else value
            for name, value in model.state_dict().items()
        }
        torch.save(state, f"{self.folder}/model_{step}.pt")
