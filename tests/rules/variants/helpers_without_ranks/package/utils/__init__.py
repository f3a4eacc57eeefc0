from utils.evaluation import evaluate
