"""The words that rules declare, by code, as regular expressions.

Written by ``python -m scripts.generate_words``. They are kept here because the
prefilter must not import the rules.
"""

WORDS: dict[str, list[str]] = {
    "DST215": [r"\bhash\(.*\) *%"],
    "DST404": [r"torch\.load\(", r"load_checkpoint\("],
    "DST405": [r"torch\.load\("],
    "DST406": [r"torch\.save\("],
    "DST409": [r"torch\.save\("],
    "DST412": [r"torch\.load\("],
    "DST505": ["CUDA_VISIBLE_DEVICES"],
    "DST506": ["MASTER_PORT"],
    "DST602": [r"log\(torch\.softmax", r"log\(F\.softmax"],
    "DST605": [r"autocast\("],
    "DST607": [r"autocast\(", "GradScaler"],
    "DST608": ["GradScaler"],
    "DST610": ["detect_anomaly"],
    "DST701": [r"torch\.compile\("],
    "DST702": ["_dynamo"],
    "DST703": [r"torch\.compile\("],
}
