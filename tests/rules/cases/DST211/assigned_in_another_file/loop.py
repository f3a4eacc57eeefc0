def fit(model, loader, env, epochs):
    order = loader.sampler
    order.seed = env.process_seed  # expect: DST211
    for epoch in range(epochs):
        order.set_epoch(epoch)
        for x in loader:
            model(x).mean().backward()
