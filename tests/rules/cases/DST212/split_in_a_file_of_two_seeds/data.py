from sklearn.model_selection import train_test_split


def split(features, labels):
    return train_test_split(features, labels, test_size=0.2)
