def reshuffle(run, epoch):
    run.loader.sampler.set_epoch(epoch)
