from metrics import mean_output


def run(model, batches):
    model.eval()
    return mean_output(model, batches)
