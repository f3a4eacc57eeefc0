"""What a rule says about itself, for formats that carry it along."""

from __future__ import annotations

from distlint.engine.settings import Resolver
from distlint.source.report import RuleText


def rule_text(code: str, resolver: Resolver) -> RuleText | None:
    """The text of a rule of ours, or of the user's own; None when there is no such rule."""
    from distlint.rules.registry import rules

    rule = rules().get(code) or resolver.own_rule(code)
    if rule is None:
        return None
    return RuleText(rule.code, rule.name, rule.summary(), rule.documentation())
