"""DST816: what a DeepSpeed file says, said once more for Accelerate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.fixers.settings import without
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration.acc_unknown_key import STATIC
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Related, Severity
from distlint.source.settings.values import Entry, Mapping

_FIELDS = frozenset(
    {
        "gradient_accumulation_steps",
        "gradient_clipping",
        "zero_stage",
        "offload_optimizer_device",
        "offload_param_device",
        "offload_param_nvme_path",
        "offload_optimizer_nvme_path",
        "zero3_save_16bit_model",
    }
)


class FieldBesideDeepSpeedFile(SettingsRule):
    """An Accelerate configuration sets a key that belongs in its DeepSpeed file.

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: DEEPSPEED
    mixed_precision: bf16  # bad: set `bf16` in the DeepSpeed file
    deepspeed_config:
      deepspeed_config_file: ds_config.json
      zero_stage: 3  # bad: set `stage` in the DeepSpeed file
    ```

    ## Use instead

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: DEEPSPEED
    deepspeed_config:
      deepspeed_config_file: ds_config.json
    ```

    Set the values in the DeepSpeed file only. There, `"auto"` takes the value from the launch
    command or the script.

    ## Why is this bad?

    Accelerate raises: "When using `deepspeed_config_file`, the following accelerate config
    variables will be ignored".

    ## What is reported

    `deepspeed_config_file` together with `gradient_accumulation_steps`, `gradient_clipping`,
    `zero_stage`, the offload keys or `zero3_save_16bit_model` in the same section, or with
    `mixed_precision` at the top level.

    ## What is not reported

    - `mixed_precision` is null.

    ## Fix safety

    Unsafe: removes the key. If the DeepSpeed file has a different value, that one takes effect.

    ## References

    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    """

    code = "DST816"
    name = "acc-field-beside-ds-file"
    severity = Severity.ERROR

    good = (
        Example(
            title="All values in the DeepSpeed file",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
num_processes: 8
deepspeed_config:
  deepspeed_config_file: ds_config.json
  zero3_init_flag: true
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Values in both files",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
num_processes: 8
deepspeed_config:
  deepspeed_config_file: ds_config.json
  gradient_accumulation_steps: 4  # expect: DST816
  zero3_init_flag: true
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("accelerate"):
            section = config.root.mapping("deepspeed_config")
            file = section.entry("deepspeed_config_file") if section is not None else None
            if section is None or file is None or not section.value("deepspeed_config_file"):
                continue
            if config.root.value("distributed_type") != "DEEPSPEED":
                continue
            for mapping, entry in _fields(config.root, section):
                yield self.finding(
                    page,
                    f"`{entry.key}` conflicts with `deepspeed_config_file`",
                    Severity.ERROR,
                    (entry.start, entry.end),
                    effect='Accelerate raises: "When using `deepspeed_config_file`, the following '
                    'accelerate config variables will be ignored"',
                    help="Set it in the DeepSpeed file only",
                    related=(
                        Related(
                            "the DeepSpeed file is named here",
                            page.sheet.place(file.start, file.value.end),
                        ),
                    ),
                    fix=without(page.sheet, "unsafe", mapping, entry),
                )


def _fields(root: Mapping, section: Mapping) -> Iterator[tuple[Mapping, Entry]]:
    for entry in section.entries:
        if entry.key in _FIELDS and not entry.merged:
            yield section, entry
    precision = root.entry("mixed_precision")
    if precision is not None and root.value("mixed_precision") is not None:
        if not precision.merged:
            yield root, precision
