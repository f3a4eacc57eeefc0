"""DST811: keys that Accelerate does not know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from distlint.catalogue.settings import nearest
from distlint.fixers.settings import renamed
from distlint.rules.base import Example, SettingsRule
from distlint.rules.settings import Page
from distlint.source.finding import Finding, Severity
from distlint.source.settings.values import Entry, Mapping

STATIC = "Accelerate's launcher reads it, not the script"

_LEGACY = frozenset({"fp16", "dynamo_backend"})
_PREFIXES = {"fsdp_config": "fsdp_", "fp8_config": "fp8_", "dynamo_config": "dynamo_"}
_CALLED = {
    "amax_history_length": "amax_history_len",
    "fp8_amax_history_length": "fp8_amax_history_len",
    "amax_compute_algorithm": "amax_compute_algo",
    "fp8_amax_compute_algorithm": "fp8_amax_compute_algo",
    "optimization_level": "opt_level",
}


class UnknownAccelerateKey(SettingsRule):
    """An Accelerate configuration has a key that Accelerate does not know.

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: DEEPSPEED
    num_gpus: 8  # bad: `accelerate launch` raises
    deepspeed_config:
      zero_stagee: 3  # bad: silently ignored
    ```

    ## Use instead

    ```yaml
    compute_environment: LOCAL_MACHINE
    distributed_type: DEEPSPEED
    num_processes: 8
    deepspeed_config:
      zero_stage: 3
    ```

    ## Why is this bad?

    For an unknown key at the top level, `accelerate launch` raises. An unknown key in a section is
    silently ignored: `zero_stagee: 3` trains with the default stage.

    ## What is reported

    Keys in a file for `accelerate launch --config_file` that are unknown to all versions of
    Accelerate that the project may run with: at the top level (error), and in sections such as
    `fsdp_config` and `deepspeed_config` (warning).

    ## What is not reported

    - Keys of `fsdp_config`, `fp8_config` and `dynamo_config` with or without their prefix.
    - Keys of files for SageMaker, which are different, and the old keys that Accelerate rewrites.

    ## Fix safety

    Unsafe: renames a key that is at most two letters off. The key then takes effect, which it did
    not before.

    ## References

    - [Accelerate: command line](https://huggingface.co/docs/accelerate/package_reference/cli)
    - [Accelerate: DeepSpeed](https://huggingface.co/docs/accelerate/usage_guides/deepspeed)
    - [Accelerate: FSDP](https://huggingface.co/docs/accelerate/usage_guides/fsdp)
    """

    code = "DST811"
    name = "acc-unknown-key"

    good = (
        Example(
            title="With and without prefix",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: bf16
num_processes: 8
fsdp_config:
  fsdp_version: 2
  offload_params: false
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    bad = (
        Example(
            title="A key that raises, and one that is ignored",
            file="accelerate.yaml",
            code="""\
compute_environment: LOCAL_MACHINE
distributed_type: DEEPSPEED
mixed_precision: bf16
num_proceses: 8  # expect: DST811
deepspeed_config:
  zero_stagee: 3  # expect: DST811
""",
            effect="static",
            why_static=STATIC,
        ),
    )

    def check(self, page: Page) -> Iterable[Finding]:
        for config in page.of("accelerate"):
            root = config.root
            sagemaker = root.value("compute_environment") == "AMAZON_SAGEMAKER"
            known = page.accelerate.values("sagemaker" if sagemaker else "keys")
            for entry in root.entries:
                if entry.key not in known and entry.key not in _LEGACY:
                    yield self._finding(page, root, entry, known, "")
                elif isinstance(entry.value, Mapping) and not sagemaker:
                    yield from self._section(page, entry.key, entry.value)

    def _section(self, page: Page, name: str, section: Mapping) -> Iterator[Finding]:
        known = page.accelerate.section(name)
        if not known:
            return
        prefix = _PREFIXES.get(name, "")
        every = [*known, *(key[len(prefix) :] for key in known if prefix)]
        for entry in section.entries:
            if not entry.merged and entry.key not in every:
                yield self._finding(page, section, entry, every, name)

    def _finding(
        self, page: Page, mapping: Mapping, entry: Entry, known: list[str], section: str
    ) -> Finding:
        meant = _CALLED.get(entry.key) or nearest(entry.key, known, 2)
        if meant in mapping.keys:
            meant = None
        where = f"in `{section}`" if section else "in the Accelerate configuration"
        return self.finding(
            page,
            f"unknown key `{entry.key}` {where}",
            Severity.WARNING if section else Severity.ERROR,
            (entry.start, entry.end),
            effect="`accelerate launch` silently ignores it"
            if section
            else "`accelerate launch` raises a ValueError",
            help=f"Rename it to `{meant}`" if meant else "Delete it",
            fix=renamed(page.sheet, "unsafe", entry, meant) if meant else None,
        )
