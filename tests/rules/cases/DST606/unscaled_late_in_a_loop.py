import torch


def late(model, optimizer, scaler, batches):
    for batch in batches:
        scaler.scale(model(batch).mean()).backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)  # expect: DST606
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
