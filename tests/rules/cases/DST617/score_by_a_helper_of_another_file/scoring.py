import numpy as np
from sklearn.metrics import roc_auc_score


def compute_metrics(truths, guesses):
    auc = roc_auc_score(np.array(truths), np.array(guesses))
    return auc
