import yaml
from accelerate import Accelerator


def main(path, model, loader):
    with open(path) as file:
        config = yaml.safe_load(file)
    options = {"mixed_precision": "fp16", "gradient_accumulation_steps": config["accumulate"]}
    accelerator = Accelerator(**options)
    for batch in loader:
        loss = model(batch)["loss"]
        loss = loss / config["accumulate"]  # expect: DST627
        accelerator.backward(loss)
