def save(engine, path):
    engine.save_checkpoint(path)
