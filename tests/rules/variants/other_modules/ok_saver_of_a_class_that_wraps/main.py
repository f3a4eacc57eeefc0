import torch


def run(trainer, is_main):
    if is_main:
        trainer.keep(0)
