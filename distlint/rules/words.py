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
    "DST506": [
        "MASTER_PORT",
        "master_port",
        r"master\-port",
        "main_process_port",
        "rdzv_endpoint",
        r"rdzv\-endpoint",
    ],
    "DST602": [r"log\(torch\.softmax", r"log\(F\.softmax"],
    "DST605": [r"autocast\("],
    "DST607": [r"autocast\(", "GradScaler"],
    "DST608": ["GradScaler"],
    "DST610": ["detect_anomaly"],
    "DST701": [r"torch\.compile\("],
    "DST702": ["_dynamo"],
    "DST703": [r"torch\.compile\("],
}

SHARED: dict[str, list[str]] = {
    "DST202": [r"\bDataLoader\("],
    "DST212": [
        r"\brandom_split\b",
        r"\btrain_test_split\b",
        r"\brandperm\b",
        r"\bpermutation\b",
        r"\bshuffle\(",
        r"\.sample\(",
    ],
    "DST404": [r"\bload\("],
    "DST406": [
        r"\bsave\(",
        r"\bsave_file\(",
        r"\bsave_model\(",
        r"\b(?:safe_)?dump\(",
        r"\bwrite(?:lines|_text|_bytes)?\(",
        r"\bprint\(.*\bfile\s*=",
        r"\bcopytree\(",
        r"\bsavez(?:_compressed)?\(",
        r"\bsavetxt\(",
        r"\bsave_pretrained\(",
        r"\bsave_to_disk\(",
        r"\bto_(?:csv|json|excel|pickle|parquet)\(",
    ],
    "DST408": [
        r"\bsave\(",
        r"\bsavez\(",
        r"\bsave_file\(",
        r"\bmakedirs\(",
        r"\bmkdir\(",
        r"\bopen\(",
    ],
    "DST413": [
        r"\brmtree\b",
        r"\bremove\(",
        r"\bunlink\b",
        r"\brmdir\b",
        r"\bremovedirs\b",
        r"\brm -",
    ],
    "DST414": [r"\bmkdir\b", r"\bmakedirs\b"],
    "DST415": [
        r"\bdownload\b",
        r"\burlretrieve\b",
        r"\bdownload_url_to_file\b",
        r"\burlopen\b",
        r"\b(?:requests|httpx)\b",
    ],
    "DST905": [
        "wandb",
        "mlflow",
        "SummaryWriter",
        "swanlab",
        "comet_ml",
        "clearml",
        "neptune",
        r"\baim\b",
    ],
}
