"""A repository and the namespace that `campaigns apply` applies it to."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from unit.cli.commands import run, write_kubeconfig, write_repository
from unit.cluster.api_server import ApiServer, serve
from unit.reconcile.namespace_store import Namespace


@dataclass
class Site:
    """A repository of one campaign, and the namespace that it is applied to."""

    repo: Path
    kubeconfig: Path
    namespace: Namespace
    api: ApiServer

    def arguments(self, *options: str) -> list[str | Path]:
        fixed = ("--kubeconfig", self.kubeconfig, "--pause-wait", "1", "--concurrency", "1")
        return ["apply", self.repo, *fixed, *options]

    def apply(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run(*self.arguments(*options), **variables)

    def write(self, path: str, text: str) -> None:
        write_repository(self.repo, {path: text})

    @property
    def holder(self) -> str:
        return str(self.namespace.leases.spec["holderIdentity"])

    @property
    def written(self) -> list[str]:
        return sorted(name for _, name in self.namespace.written)


@contextmanager
def made(directory: Path) -> Iterator[Site]:
    """A site below a directory, for as long as the block runs."""
    namespace = Namespace()
    with serve(namespace) as api:
        kubeconfig = write_kubeconfig(directory / "kubeconfig", api.url)
        yield Site(write_repository(directory / "repo"), kubeconfig, namespace, api)
