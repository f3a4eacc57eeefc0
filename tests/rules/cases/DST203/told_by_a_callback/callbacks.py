class Reshuffle:
    def epoch_begin(self, run, epoch):
        sampler = getattr(run.loader, "sampler", None)
        if sampler is not None:
            sampler.set_epoch(epoch)
