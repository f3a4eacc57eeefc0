import pandas as pd


def load(path):
    frame = pd.read_csv(path).sample(frac=1)  # expect: DST212
    count = int(len(frame) * 0.9)
    return frame[:count], frame[count:]
