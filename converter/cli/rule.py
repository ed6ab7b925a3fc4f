"""`campaigns rule`: what a rule code means."""

import json
from dataclasses import asdict

import click

from converter.checks import ALL_RULES
from converter.checks.docs import can_be_ignored
from converter.checks.wording import instead
from converter.problem import Level
from converter.rule import Rule


@click.command("rule")
@click.argument("code", required=False)
@click.option(
    "--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True
)
def command(*, code: str | None, output: str) -> int:
    """Explain the rule with this CODE (or name), or list all rules.

    With --format json the document is {"version": 1, "rules": [{"code", "name", "what", "why",
    "wrong", "right", "since", "level", "ignorable"}]}.

    \b
    Example:
      campaigns rule C011
    """
    rules = list(ALL_RULES.values()) if code is None else [find(code)]
    if output == "json":
        document = {"version": 1, "rules": [asdict(rule) for rule in rules]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif code is None:
        for rule in rules:
            click.echo(_line(rule))
    else:
        click.echo(_page(rules[0]))
    return 0


def find(code: str) -> Rule:
    """The rule of a code, in whatever case, or of a name. Raises click.BadParameter."""
    for rule in ALL_RULES.values():
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    known = {*ALL_RULES, *(rule.name for rule in ALL_RULES.values())}
    wanted = code.upper() if any(letter.isdigit() for letter in code) else code.lower()
    hint = instead(wanted, known, "")
    raise click.BadParameter(
        f"there is no rule {code}; {hint if hint.startswith('did') else 'see `campaigns rule`'}",
        param_hint="CODE",
    )


def _line(rule: Rule) -> str:
    return f"{rule.code}  {rule.name}{_warning(rule)}: {rule.what}"


def _page(rule: Rule) -> str:
    return "\n".join(
        (
            f"{rule.code} {rule.name}{_warning(rule)}",
            "",
            rule.what,
            rule.why,
            "",
            "Wrong:",
            _indented(rule.wrong),
            "",
            "Right:",
            _indented(rule.right),
            "",
            *([f"{can_be_ignored(rule)}\n"] if rule.ignorable else ()),
            f"Since {rule.since}.",
        )
    )


def _warning(rule: Rule) -> str:
    return " (warning)" if rule.level is Level.WARNING else ""


def _indented(snippet: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in snippet.rstrip("\n").split("\n"))
