"""DST808: values that DeepSpeed cannot take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as Table
from typing import Any

from distlint.catalogue.settings import nearest
from distlint.fixers.settings import replaced
from distlint.rules.base import Example, SettingsRule
from distlint.rules.configuration._deepspeed import STATIC, entries
from distlint.rules.configuration.ds_batch_math import MICRO, STEPS, TOTAL
from distlint.rules.settings import Page, shown, written
from distlint.source.finding import Finding, Fix, Severity
from distlint.source.settings.sheet import Config
from distlint.source.settings.values import UNKNOWN, Entry, Mapping, Scalar, Sequence

_DTYPES = ("fp16", "bf16", "fp32")
_PLAIN: Table[tuple[str, ...], tuple[str, ...]] = {
    ("communication_data_type",): _DTYPES,
    ("seq_parallel_communication_data_type",): _DTYPES,
    ("data_types", "grad_accum_dtype"): _DTYPES,
    ("checkpoint", "tag_validation"): ("Ignore", "Warn", "Fail"),
}
_ANY_CASE = frozenset({"communication_data_type", "seq_parallel_communication_data_type"})
_TORCH_OPTIMIZERS = (
    "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam RAdam RMSprop Rprop SGD"
    " SparseAdam"
).split()
_POSITIVE = (TOTAL, MICRO, STEPS)
_TRUE_WORDS = frozenset("true false yes no on off t f y n 0 1".split())


class BadDeepSpeedValue(SettingsRule):
    """A DeepSpeed configuration has a value that DeepSpeed does not accept.

    ```jsonc
    {
      "zero_optimization": {
        "stage": 4,  // bad: the stages are 0 to 3
        "offload_optimizer": {"device": "gpu"}  // bad: `none`, `cpu` or `nvme`
      }
    }
    ```

    ## Use instead

    ```json
    {
      "zero_optimization": {
        "stage": 3,
        "offload_optimizer": {"device": "cpu"}
      }
    }
    ```

    ## Why is this bad?

    DeepSpeed fails at startup, or at the first step that needs the value.

    ## What is reported

    - Values of the wrong type or out of range in sections that DeepSpeed validates: `"stage": 4`,
      `"device": "gpu"`, `"reduce_bucket_size": "5e8"`.
    - Strings that DeepSpeed does not know: in `communication_data_type`,
      `data_types.grad_accum_dtype` and `checkpoint.tag_validation`.
    - An optimizer that neither DeepSpeed nor `torch.optim` has, and misspelled schedulers.
    - Batch sizes and gradient accumulation steps that are not positive integers.

    ## What is not reported

    - `"auto"`, which DeepSpeed treats as "not given"; where that is wrong,
      [ds-auto-without-hf](ds-auto-without-hf.md) reports it.
    - Templates, and the parameters of optimizers and schedulers.
    - An optimizer with a dot in its name: the path of a class that the script itself imports.
    - Lists next to an `autotuning` section that is enabled: the tuner chooses from them.

    ## Fix safety

    Unsafe: replaces a word that is one or two letters off with the one that it resembles.

    ## References

    - [DeepSpeed: ZeRO](https://deepspeed.readthedocs.io/en/latest/zero3.html)
    - [DeepSpeed: optimizers](https://deepspeed.readthedocs.io/en/latest/optimizers.html)
    - [DeepSpeed: schedulers](https://deepspeed.readthedocs.io/en/latest/schedulers.html)
    """

    code = "DST808"
    name = "ds-bad-value"
    severity = Severity.ERROR

    good = (
        Example(
            title="Numbers in any notation, and an optimizer of torch",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "communication_data_type": "fp32",
  "optimizer": {"type": "SGD", "params": {"lr": 0.1}},
  "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8}
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A stage that does not exist, and two misspelled words",
            file="ds_config.json",
            code="""\
{
  "train_micro_batch_size_per_gpu": 4,
  "optimizer": {
    "type": "AdmaW",  # expect: DST808
    "params": {"lr": 0.1}
  },
  "zero_optimization": {
    "stage": 4,  # expect: DST808
    "offload_optimizer": {
      "device": "gpu"  # expect: DST808
    }
  }
}
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("deepspeed"):
            autotuning = config.root.mapping("autotuning")
            is_tuned = autotuning is not None and autotuning.value("enabled") is True
            for path, section, entry in entries(config.root):
                if is_tuned and isinstance(entry.value, Sequence):
                    continue  # what the tuner may choose from
                yield from self._entry(page, (*path, entry.key), section, entry)
            yield from self._names(page, config)

    def _entry(
        self, page: Page, path: tuple[str, ...], section: Mapping, entry: Entry
    ) -> Iterator[Finding]:
        value = entry.value.value if isinstance(entry.value, Scalar) else None
        if value is UNKNOWN:
            return
        if len(path) == 1 and self._is_no_section(page, entry):
            yield self._finding(page, entry, "is not a section")
            return
        if value == "auto":
            return
        if len(path) == 1 and entry.key in _POSITIVE:
            missing = isinstance(entry.value, Scalar) and value is None
            if not missing and not _is_positive(value):
                yield self._finding(page, entry, "is not a positive integer")
            return
        if path[0] == "fp16" and (problem := _loss_scaling(entry.key, value, section)):
            yield self._finding(page, entry, problem)
            return
        if path in _PLAIN:
            known = _PLAIN[path]
            said = str(value)
            said = said.lower() if entry.key in _ANY_CASE else said
            matches = said in known or said.lower() in [k.lower() for k in known]
            if value is not None and not matches:
                yield self._finding(page, entry, f"is not one of {shown(known)}", known)
            return
        found = page.deepspeed.entries(path)
        if found and page.deepspeed.refuses_unknown(path[:-1]):
            problem = _problem(found[0], entry)
            if problem is not None:
                known = found[0].get("values") or ()
                words = tuple(word for word in known if isinstance(word, str))
                yield self._finding(page, entry, problem, words)

    @staticmethod
    def _is_no_section(page: Page, entry: Entry) -> bool:
        """Is a section written as something else? ``zero_optimization`` may be true or false."""
        found = page.deepspeed.entries((entry.key,))
        if not found or "keys" not in found[0] or isinstance(entry.value, Mapping):
            return False
        value = entry.value.value if isinstance(entry.value, Scalar) else ()
        if entry.key == "zero_optimization":
            return not isinstance(value, bool)
        return value is not None or entry.key == "fp16"

    def _names(self, page: Page, config: Config) -> Iterator[Finding]:
        root = config.root
        for section in ("optimizer", "scheduler"):
            mapping = root.mapping(section)
            entry = mapping.entry("type") if mapping is not None else None
            params = mapping.entry("params") if mapping is not None else None
            if params is not None and section == "optimizer" and not _is_section(params):
                yield self._finding(page, params, "is not a section")
            value = entry.value.value if entry and isinstance(entry.value, Scalar) else None
            if entry is None or value is None or value is UNKNOWN:
                continue
            if not isinstance(value, str):
                yield self._finding(page, entry, "is not a string")
                continue
            if section == "optimizer":
                yield from self._optimizer(page, entry, value)
            elif value not in page.deepspeed.schedules:
                meant = nearest(value, page.deepspeed.schedules, 2)
                same = [s for s in page.deepspeed.schedules if s.lower() == value.lower()]
                meant = same[0] if same else meant
                if meant is not None:
                    problem = "is not a DeepSpeed scheduler"
                    yield self._finding(page, entry, problem, (meant,))

    def _optimizer(self, page: Page, entry: Entry, value: str) -> Iterator[Finding]:
        schema = page.deepspeed
        own = schema.optimizers | schema.former_optimizers
        if value.lower() in own or value in _TORCH_OPTIMIZERS or value == "auto":
            return
        if "." in value:  # the path of a class, which the script imports itself
            return
        same = [name for name in _TORCH_OPTIMIZERS if name.lower() == value.lower()]
        shownable = [*_TORCH_OPTIMIZERS, "Lamb", "Lion"]
        meant = same[0] if same else nearest(value, shownable, 2)
        problem = "is not an optimizer of DeepSpeed or torch"
        yield self._finding(page, entry, problem, (meant,) if meant else ())

    def _finding(
        self, page: Page, entry: Entry, problem: str, known: tuple[str, ...] = ()
    ) -> Finding:
        return self.finding(
            page,
            f"`{entry.key}`: {written(page, entry.value)[:40]} {problem}",
            Severity.ERROR,
            (entry.value.start, entry.value.end),
            effect="DeepSpeed fails with an error",
            help=_advice(known),
            fix=_nearest_word(page, entry, known),
        )


def _advice(known: tuple[str, ...]) -> str:
    """What is to be written instead, where that is known."""
    if len(known) == 1:
        return f"Use `{known[0]}`"
    return f"Use one of {shown(known)}" if known else "Use a value that DeepSpeed accepts"


def _nearest_word(page: Page, entry: Entry, known: tuple[str, ...]) -> Fix | None:
    value = entry.value.value if isinstance(entry.value, Scalar) else None
    if not isinstance(value, str):
        return None
    meant = known[0] if len(known) == 1 else nearest(value, known, 2)
    if meant is None or len(meant) < 3:
        return None
    start, end = entry.value.start, entry.value.end
    quote = page.text[start]
    return replaced(page.sheet, "unsafe", f"Set to `{meant}`", (start, end, quote + meant + quote))


def _is_section(entry: Entry) -> bool:
    unknown = isinstance(entry.value, Scalar) and entry.value.value in (UNKNOWN, None, "auto")
    return unknown or isinstance(entry.value, Mapping)


def _loss_scaling(key: str, value: Any, section: Mapping) -> str | None:
    """What DeepSpeed checks by itself about the scaling of the loss."""
    if key in ("loss_scale", "loss_scale_window", "min_loss_scale") and isinstance(value, bool):
        return "is not a number"
    if key == "loss_scale" and isinstance(value, (int, float)) and value < 0:
        return "must be at least 0"
    if key in ("loss_scale_window", "min_loss_scale") and section.value("enabled") is True:
        dynamic = not section.value("loss_scale") and section.value("loss_scale") is not UNKNOWN
        if dynamic and isinstance(value, (int, float)) and value <= 0:
            return "must be greater than 0 with dynamic loss scaling"
    return None


def _is_positive(value: Any) -> bool:
    if isinstance(value, float):
        return value > 0 and value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _problem(schema: Table[str, Any], entry: Entry) -> str | None:
    """What pydantic says against a value, in its lenient mode."""
    node = entry.value
    kind = schema.get("type")
    if "keys" in schema and kind != "any":
        if isinstance(node, Scalar) and node.value is None and schema.get("nullable"):
            return None
        return None if isinstance(node, Mapping) else "is not a section"
    if isinstance(node, (Mapping, Sequence)):
        if "values" in schema:
            return f"is not one of {shown(str(each) for each in schema['values'])}"
        return f"is not {_WORDS[kind]}" if kind in _WORDS else None
    value = node.value
    if value is None:
        return (
            None
            if schema.get("nullable") or (kind is None and "values" not in schema)
            else "is not accepted"
        )
    if "values" in schema:
        known = schema["values"]
        if value in known or str(value) in [str(each) for each in known]:
            return None
        return f"is not one of {shown(str(each) for each in known)}"
    if kind in ("int", "float"):
        number = _number(value, whole=kind == "int")
        if number is None:
            return f"is not {_WORDS[kind]}"
        return _out_of_range(schema, number)
    if kind == "bool":
        if isinstance(value, bool) or value in (0, 1) or str(value).lower() in _TRUE_WORDS:
            return None
        return "is not a boolean"
    if kind == "str" and not isinstance(value, str):
        return "is not a string"
    return None


_WORDS = {"int": "an integer", "float": "a number", "bool": "a boolean", "str": "a string"}


def _number(value: Any, *, whole: bool) -> float | None:
    if isinstance(value, str):
        pattern = r"\s*[-+]?\d[\d_]*(\.0*)?\s*" if whole else r"\s*[-+]?[\d.]+([eE][-+]?\d+)?\s*"
        if not re.fullmatch(pattern, value):
            return None
        try:
            return float(value)
        except ValueError:
            return None
    if isinstance(value, int):
        return value
    return value if isinstance(value, float) and (not whole or value.is_integer()) else None


def _out_of_range(schema: Table[str, Any], number: float) -> str | None:
    if "gt" in schema and number <= schema["gt"]:
        return f"must be greater than {schema['gt']}"
    if "ge" in schema and number < schema["ge"]:
        return f"must be at least {schema['ge']}"
    if "lt" in schema and number >= schema["lt"]:
        return f"must be less than {schema['lt']}"
    if "le" in schema and number > schema["le"]:
        return f"must be at most {schema['le']}"
    return None
