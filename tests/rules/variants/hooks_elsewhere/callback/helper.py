def repeat(step, count, verbose=False):
    done = 0
    while done < count:
        if verbose:
            print(done)
        step(done)
        done += 1
