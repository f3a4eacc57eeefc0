import deepspeed
import torch


def main(args, net, data):
    engine, opt, loader, _ = deepspeed.initialize(args=args, model=net, training_data=data)
    for batch in loader:
        loss = engine(batch)
        if torch.isnan(loss):
            continue  # expect: DST117
        engine.backward(loss)
        engine.step()
