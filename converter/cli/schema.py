"""`campaigns schema`: the JSON schema of a kind of file."""

import click

from converter.resources import schema_text


@click.command("schema")
@click.argument("name", type=click.Choice(["campaign", "pipeline", "converter"]))
def command(*, name: str) -> int:
    """Print the JSON schema (draft 2020-12) of the files of kind NAME, for editors and CI.

    \b
    Example:
      campaigns schema campaign > .schemas/campaign.schema.json
    """
    click.echo(schema_text(name), nl=False)
    return 0
