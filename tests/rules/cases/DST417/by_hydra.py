import hydra
import torch


@hydra.main(config_path="conf")
def main(cfg):
    model = torch.nn.Linear(2, 2)
    save(model, cfg, 1)
    load(model, "last.pt")


def save(model, cfg, epoch):
    torch.save({"model": model.state_dict(), "epoch": epoch, "cfg": cfg}, f"{epoch}.pt")


def load(model, path):
    state = torch.load(path, map_location="cpu")  # expect: DST417
    model.load_state_dict(state["model"])
    return state.get("epoch", 0)
