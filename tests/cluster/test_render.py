"""What is rendered is what a real API server takes and gives back, by dry run."""

from __future__ import annotations

from dataclasses import replace

from cluster.team import Team
from unit.render.samples import SAMPLES

from converter.cluster.fields import matches
from converter.cluster.resources import RENDERED
from converter.names import FIELD_MANAGER
from converter.render import render


def test_an_api_server_takes_every_sample_and_stores_what_was_sent(team: Team) -> None:
    """Else an unchanged object would look changed at every apply."""
    client = team.client()
    for repo in SAMPLES.values():
        settings = replace(repo.settings, namespace=team.namespace, queue=team.tenant.queue)
        for manifest in render(replace(repo, settings=settings)):
            answer = client.apply(
                RENDERED[manifest.kind],
                team.namespace,
                manifest.body,
                manager=FIELD_MANAGER,
                dry_run=True,
            )
            assert matches(answer, manifest.body, FIELD_MANAGER), manifest.target
