from detector import Detector, scores_of
from helpers import gather_filled, gather_rows, gather_whole


def main(images):
    detector = Detector()
    for image in images:
        boxes = detector.find(image)
        print(gather_rows(boxes), gather_whole(scores_of(image)), gather_filled(boxes, 100))
