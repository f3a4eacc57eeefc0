from accelerate import Accelerator


def train(model, optimizer, loader, gas):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for i, batch in enumerate(loader):
        if (i + 1) % gas:
            with accelerator.no_sync(model):
                accelerator.backward(model(batch).mean())
                accelerator.clip_grad_norm_(model.parameters(), 1.0)  # expect: DST615
            continue
        accelerator.backward(model(batch).mean())
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
