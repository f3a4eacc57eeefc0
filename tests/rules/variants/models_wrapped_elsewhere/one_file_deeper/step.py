def one_step(model, batch, optimizer):
    loss = model(batch["x"]).sum()
    if loss.isnan():
        return None
    loss.backward()
    optimizer.step()
    return loss.item()
