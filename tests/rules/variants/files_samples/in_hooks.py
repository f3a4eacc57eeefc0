"""A hook is given the batch of its rank."""

from lightning import LightningModule, Trainer
from torchvision.utils import save_image


class Net(LightningModule):
    def test_step(self, batch, index):
        images, names = batch
        save_image(self(images), f"out/{names[0]}.png")

    def validation_step(self, batch, index):
        for image, path in zip(batch["image"], batch["path"]):
            save_image(image, "out/" + path.split("/")[-1])
        save_image(batch["image"], f"out/{index}.png")  # expect: DST406


Trainer(devices=4, strategy="ddp").test(Net())
