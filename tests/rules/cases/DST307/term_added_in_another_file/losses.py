def added(rec, kl):
    return rec + 0.1 * kl
