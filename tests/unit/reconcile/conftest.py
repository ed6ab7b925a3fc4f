"""A namespace behind HTTP."""

from collections.abc import Iterator

import pytest
from unit.cluster.api_server import ApiServer, serve
from unit.reconcile.namespace_store import Namespace


@pytest.fixture
def namespace() -> Namespace:
    return Namespace()


@pytest.fixture
def api(namespace: Namespace) -> Iterator[ApiServer]:
    with serve(namespace) as server:
        yield server
