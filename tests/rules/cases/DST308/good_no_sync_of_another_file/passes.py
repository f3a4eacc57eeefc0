def run(model, batch, last):
    if last:
        return model(batch).mean()
    with model.no_sync():
        return model(batch).mean()
