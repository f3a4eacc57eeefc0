import torch


class ModelSaver:
    def __init__(self, folder):
        self.folder = folder

    def save(self, model, step):
        torch.save(model.state_dict(), f"{self.folder}/model_{step}.pt")
