"""DST818: what DeepSpeed's reader takes and Accelerate's and the Trainer's does not."""

from __future__ import annotations

from collections.abc import Iterable

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, uses_auto
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity

_STANDARD = ("`NaN`", "`Infinity`", "`-Infinity`")


class CommentsInHfConfig(SettingsRule):
    """A DeepSpeed file that the Trainer or Accelerate reads is not plain JSON.

    ```jsonc
    {
      // bad: the Trainer reads the file with Python's json, which accepts no comments
      "train_micro_batch_size_per_gpu": "auto",
      "zero_optimization": {"stage": 2}
    }
    ```

    ## Use instead

    ```json
    {
      "train_micro_batch_size_per_gpu": "auto",
      "zero_optimization": {"stage": 2}
    }
    ```

    ## Why is this bad?

    DeepSpeed reads its files with hjson, which accepts comments, trailing commas and keys without
    quotes. The Trainer and Accelerate read the same file with Python's `json`, which raises a
    JSONDecodeError.

    ## What is reported

    Comments, trailing commas, keys without quotes and the like in a DeepSpeed configuration that
    uses `"auto"`, which only the Trainer or Accelerate can fill in. There is one finding per file.

    ## What is not reported

    - No value in the file is `"auto"`: it may be read by DeepSpeed alone.
    - The extension of the file is `.hjson`.

    ## Fix safety

    None: the content of a comment has to be moved elsewhere first.

    ## References

    - [transformers: DeepSpeed](https://huggingface.co/docs/transformers/deepspeed)
    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    - [json](https://docs.python.org/3/library/json.html)
    """

    code = "DST818"
    name = "comments-in-hf-config"
    severity = Severity.ERROR

    good = (
        Example(
            title="A file for DeepSpeed alone",
            file="ds_config.json",
            code="""\
{
  // eight GPUs
  "train_batch_size": 64,
  "zero_optimization": {"stage": 2},
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A file for the Trainer",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": "auto",
  "zero_optimization": {"stage": 2},  # expect: DST818
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        if page.sheet.kind != "json" or page.path.suffix.lower() == ".hjson":
            return
        for config in page.of("deepspeed"):
            odd = [each for each in config.extensions if each[0] not in _STANDARD]
            if odd and uses_auto(config.root):
                what, start, end = min(odd, key=lambda each: each[1])
                yield self.finding(
                    page,
                    f"{what} in a file that must be plain JSON",
                    Severity.ERROR,
                    (start, max(end, start + 1)),
                    effect="the Trainer or Accelerate fails with a JSONDecodeError",
                    help="Write plain JSON",
                )
