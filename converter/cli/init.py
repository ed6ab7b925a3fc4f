"""`campaigns init`: a new campaigns repository, with CI and the pre-commit hook."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import click

from converter import __version__
from converter.errors import CampaignsError, Refused
from converter.git import top_of_clone
from converter.load.scalars import plain_scalar
from converter.load.schema import FileKind
from converter.names import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL
from converter.resources import schema_text

# The template of each file that every repository gets.
_FILES: Final = {
    "converter.yaml": "converter.yaml",
    "campaigns/example.yaml": "campaign.yaml",
    "pipelines/example.yaml": "pipeline.yaml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
    ".gitignore": "gitignore",
    "README.md": "README.md.in",
}
# Where each CI system looks for its file, and what the secret is called there.
_CI: Final = {
    "github": (".github/workflows/campaigns.yaml", "the secret CAMPAIGNS_KUBECONFIG"),
    "gitlab": (".gitlab-ci.yml", "the variable CAMPAIGNS_KUBECONFIG"),
    "azure": ("azure-pipelines.yml", "the secure file campaigns.kubeconfig"),
}
_BRANCH: Final = re.compile(r"(?!.*\.\.)[A-Za-z0-9_](?:[A-Za-z0-9._/-]*[A-Za-z0-9_-])?\Z")


def _namespace(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not DNS_LABEL.match(value):
        raise click.BadParameter(
            f"{value!r} is no namespace: write at most {MAX_LABEL} of a-z, 0-9 and -, with a "
            "letter or digit at both ends"
        )
    return value


def _queue(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if len(value) > MAX_LABEL or not DNS_SUBDOMAIN.match(value):
        raise click.BadParameter(
            f"{value!r} is no LocalQueue: write at most {MAX_LABEL} of a-z, 0-9, - and ., with a "
            "letter or digit at both ends"
        )
    return value


def _branch(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not _BRANCH.match(value):
        raise click.BadParameter(f"{value!r}: write letters, digits, ., _, - and /")
    return value


def _package(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    if not value.isprintable() or not value.strip() or value.startswith("-"):
        raise click.BadParameter(f"{value!r} is nothing that pip can install: write a requirement")
    return value


@click.command("init")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--ci", type=click.Choice(list(_CI)), default="github", show_default=True, help="Whose CI."
)
@click.option(
    "--namespace",
    callback=_namespace,
    default="campaigns",
    show_default=True,
    help="The namespace that the campaigns run in.",
)
@click.option(
    "--queue",
    callback=_queue,
    default="campaigns",
    show_default=True,
    help="The LocalQueue in that namespace.",
)
@click.option(
    "--branch",
    callback=_branch,
    default="main",
    show_default=True,
    help="The branch whose commits are applied.",
)
@click.option(
    "--package",
    callback=_package,
    default=f"gitops-campaigns=={__version__}",
    show_default=True,
    metavar="REQUIREMENT",
    help="What pip installs in CI and for the hook, for example git+https://HOST/PATH@COMMIT.",
)
def command(
    *, directory: Path, ci: str, namespace: str, queue: str, branch: str, package: str
) -> int:
    """Write a new campaigns repository to DIR, which may be a fresh clone or not exist yet.

    It gets the settings, a pipeline and a campaign as examples, the schemas for editors, the
    pre-commit hook, a README.md, and CI that validates what is proposed and applies what is
    merged. The example is paused: an apply of it starts no pod.

    A file that is there already is left as it is when it has the very same text. If one has
    another text, nothing is written.

    \b
    Exit codes:
      0  everything is there
      1  a file is in the way, or DIR cannot be written; nothing was written
      2  wrong usage

    \b
    Example:
      campaigns init letters --ci gitlab --namespace letters --queue gpu
    """
    values = _values(namespace=namespace, queue=queue, branch=branch, package=package)
    texts = dict(_texts(ci, values))
    missing = {path: text for path, text in texts.items() if not _is_there(directory, path, text)}
    _write(directory, missing)
    for path in texts:
        click.echo(f"{'wrote' if path in missing else 'unchanged'}: {directory / path}")
    _warn_below_top(directory, _CI[ci][0])
    _say_next(directory, ci, branch, package)
    return 0


def _values(**plain: str) -> dict[str, str]:
    """What stands for each placeholder: the value, and the value as YAML and as shell text."""
    quoted = {f"{name}_yaml": _yaml(value) for name, value in plain.items()}
    shell = {f"{name}_shell": shlex.quote(value) for name, value in plain.items()}
    return {f"@{name.upper()}@": value for name, value in (plain | quoted | shell).items()}


def _yaml(text: str) -> str:
    bare = DNS_SUBDOMAIN.match(text) and isinstance(plain_scalar(text), str)
    return text if bare else json.dumps(text, ensure_ascii=False)


def _texts(ci: str, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each file by its path in the repository."""
    filled = {**values, "@CI_README@\n": _template(f"README-{ci}.md.in", values)}
    for path, template in _FILES.items():
        yield path, _template(template, filled)
    yield _CI[ci][0], _template(f"{ci}.yaml", values)
    for kind in FileKind:
        yield f".schemas/{kind}.schema.json", schema_text(kind)


def _template(name: str, values: Mapping[str, str]) -> str:
    text = (files("converter") / "templates" / "init" / name).read_text(encoding="utf-8")
    for placeholder, value in values.items():
        text = text.replace(placeholder, value)
    return text


def _is_there(directory: Path, path: str, text: str) -> bool:
    """Whether a file has this text. Raises Refused where something else is in its place."""
    place = directory
    for part in Path(path).parent.parts:
        place /= part
        if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()):
            raise Refused(f"{place} is no directory; nothing was written: move it out of the way")
    place = directory / path
    if not os.path.lexists(place):
        return False
    if place.is_file() and not place.is_symlink() and place.read_bytes() == text.encode():
        return True
    raise Refused(
        f"{place} is there already and differs, so it is not overwritten; nothing was written: "
        "move it out of the way, or choose another directory"
    )


def _write(directory: Path, texts: Mapping[str, str]) -> None:
    """Write all to a directory of its own first, so that a full disk leaves nothing half-written.

    Raises CampaignsError where the file system does not let us; no file is left then.
    """
    place = directory
    written: list[Path] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".campaigns-init-", dir=directory) as beside:
            for path, text in texts.items():
                (Path(beside) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(beside) / path).write_bytes(text.encode())
            for path in texts:
                place = directory / path
                place.parent.mkdir(parents=True, exist_ok=True)
                # Unlike a rename, a link takes no other file's place.
                os.link(Path(beside) / path, place)
                written.append(place)
    except OSError as error:
        for each in written:
            each.unlink(missing_ok=True)
        raise CampaignsError(
            f"cannot write {place}: {error.strerror}; nothing was written"
        ) from error


def _warn_below_top(directory: Path, ci_file: str) -> None:
    top = top_of_clone(directory)
    if top is not None and not top.samefile(directory):
        click.echo(
            f"warning: {directory} is not the top of its git repository, where alone {ci_file} is "
            "read: move it there, and write the directory for . in its commands",
            err=True,
        )


def _say_next(directory: Path, ci: str, branch: str, package: str) -> None:
    click.echo(
        f"\nNext:\n"
        f"  1. Make converter.yaml say what your cluster has: campaigns validate "
        f"{shlex.quote(str(directory))}\n"
        f"  2. Give CI {_CI[ci][1]}, as README.md says\n"
        f"  3. Commit all of it and push it to {branch}; the example campaign is paused\n"
        f"pip installs {package} in CI and for the hook: see that your package index has it, or "
        "write a requirement with --package"
    )
