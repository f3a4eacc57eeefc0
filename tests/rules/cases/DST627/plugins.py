from accelerate import Accelerator
from accelerate.utils import DeepSpeedPlugin, GradientAccumulationPlugin


def plain(cfg, model, batch):
    plugin = GradientAccumulationPlugin(num_steps=cfg.micro, sync_with_dataloader=False)
    accelerator = Accelerator(gradient_accumulation_plugin=plugin)
    accelerator.backward(model(batch).loss / cfg.micro)  # expect: DST627


def by_deepspeed(cfg, model, batch):
    plugin = DeepSpeedPlugin(zero_stage=2, gradient_accumulation_steps=cfg.micro)
    accelerator = Accelerator(deepspeed_plugin=plugin)
    accelerator.backward(model(batch).loss / cfg.micro)  # expect: DST627
