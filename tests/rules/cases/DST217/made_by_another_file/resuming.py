def resumed(accelerator, loader, skipped):
    accelerator.load_state()
    return accelerator.skip_first_batches(loader, skipped)
