"""DST807: options of another ZeRO stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, is_auto, is_on, stage
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.values import UNKNOWN, Entry, Mapping, Scalar

_STAGE_3 = frozenset(
    {
        "zero_quantized_weights",
        "zero_quantized_nontrainable_weights",
        "zero_quantized_gradients",
        "zero_hpz_partition_size",
    }
)
_ZERO_ONLY = (
    ("fp16", "fp16_master_weights_and_grads"),
    ("bf16", "bf16_master_weights_and_grads"),
    ("bf16", "bf16_optimizer_states"),
)


class StageMismatch(SettingsRule):
    """A DeepSpeed configuration sets options that do not apply to its ZeRO stage.

    ```jsonc
    {
      "zero_optimization": {
        "stage": 2,
        "offload_param": {"device": "cpu"}  // bad: needs stage 3
      }
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {
        "stage": 3,
        "offload_param": {"device": "cpu"}
      }
    }
    ```

    Or delete the option that belongs to another stage.

    ## Why is this bad?

    The parameters stay on every GPU, or nothing is offloaded: the job runs out of memory although
    the file says otherwise. Or the job fails at startup.

    ## What is reported

    Options without effect (warning):

    - `stage3_*`, `offload_param` and the quantization of ZeRO++ below stage 3;
    - `offload_optimizer` at stage 0, and to `nvme` below stage 3.

    Options that DeepSpeed rejects (error):

    - `compute_grad_norm: false` outside stages 1 and 2;
    - a `ratio` below 1 in `offload_optimizer` below stage 3;
    - master weights and optimizer states in half precision at stage 0;
    - `gradient_allreduce_op: "sum"` at stage 3.

    ## What is not reported

    - The stage is not known, or the option is `"none"`, false or the like.
    - `stage3_*` options whose value is `"auto"`, in a file whose stage is chosen elsewhere.

    ## Fix safety

    None: either the stage or the option is wrong.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    """

    code = "DST807"
    name = "ds-stage-mismatch"

    good = (
        Example(
            title="Options of stage 3",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {
    "stage": 3,
    "stage3_param_persistence_threshold": 1e5,
    "offload_param": {"device": "cpu"}
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
        Example(
            title="Offloading is off",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": 2, "offload_param": {"device": "none"}}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="Parameters are not offloaded at stage 2",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {
    "stage": 2,
    "offload_param": {"device": "cpu"},  # expect: DST807
    "stage3_gather_16bit_weights_on_model_save": true  # expect: DST807
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            root = config.root
            level = stage(root)
            if level is None:
                continue
            zero = root.mapping("zero_optimization")
            if zero is not None:
                for entry in zero.entries:
                    if not entry.merged:
                        yield from self._in_zero(page, zero, entry, level)
            yield from self._elsewhere(page, root, level)

    def _in_zero(self, page: Page, zero: Mapping, entry: Entry, level: int) -> Iterator[Finding]:
        key = entry.key
        value = entry.value.value if isinstance(entry.value, Scalar) else None
        if value is UNKNOWN:
            return
        device = zero.value(key, "device")
        if level < 3 and key == "offload_param" and device in ("cpu", "nvme"):
            yield self._idle(page, entry, "needs stage 3", level)
        elif key == "offload_optimizer" and device in ("cpu", "nvme"):
            if level == 0:
                yield self._idle(page, entry, "needs stage 1, 2 or 3", level)
            elif level < 3 and device == "nvme":
                yield self._idle(page, entry, "to `nvme` needs stage 3", level)
            ratio = zero.value(key, "ratio")
            if level < 3 and isinstance(ratio, (int, float)) and ratio < 1:
                yield self._refused(page, entry, "with a `ratio` below 1 needs stage 3", level)
        elif level < 3 and (key.startswith("stage3_") or key in _STAGE_3):
            if value not in (False, None, 0, 1) or value is True:
                if not is_auto(entry.value):
                    yield self._idle(page, entry, "needs stage 3", level)
        elif key == "compute_grad_norm" and value is False and level not in (1, 2):
            yield self._refused(page, entry, "can be false at stages 1 and 2 only", level)

    def _elsewhere(self, page: Page, root: Mapping, level: int) -> Iterator[Finding]:
        for section, key in _ZERO_ONLY:
            found = root.mapping(section)
            entry = found.entry(key) if found is not None else None
            if entry is not None and level == 0 and is_on(root, section, key):
                yield self._refused(page, entry, "needs stage 1, 2 or 3", level)
        entry = root.entry("gradient_allreduce_op")
        if entry is not None and level == 3 and root.value("gradient_allreduce_op") == "sum":
            yield self._refused(page, entry, "cannot be `sum`", level)

    def _idle(self, page: Page, entry: Entry, needs: str, level: int) -> Finding:
        return self.finding(
            page,
            f"`{entry.key}` {needs}; this is stage {level}",
            Severity.WARNING,
            (entry.start, entry.end),
            effect="DeepSpeed silently ignores it",
            help="Set the intended stage, or delete it",
        )

    def _refused(self, page: Page, entry: Entry, needs: str, level: int) -> Finding:
        return self.finding(
            page,
            f"`{entry.key}` {needs}; this is stage {level}",
            Severity.ERROR,
            (entry.start, entry.end),
            effect="DeepSpeed fails at startup",
            help="Set the intended stage, or delete it",
        )
