"""The objects of a whole repository."""

from converter.manifest import Manifest
from converter.model import Repo
from converter.render.campaign import campaign_manifests
from converter.render.pipeline import pipeline_manifests
from converter.render.recipe import recipe_of


def render(repo: Repo) -> tuple[Manifest, ...]:
    """Every object that a valid repository stands for, in the order in which to create them.

    Pipelines come first, then campaigns, each in order of name; of a campaign, each part's
    ConfigMap comes before its Job. A repository that breaks a rule must not come here: what is
    rendered from it is not defined.
    """
    settings = repo.settings
    recipes = {
        name: recipe_of(pipeline, settings) for name, pipeline in sorted(repo.pipelines.items())
    }
    manifests: list[Manifest] = []
    for recipe in recipes.values():
        manifests.extend(pipeline_manifests(recipe, settings))
    for _, campaign in sorted(repo.campaigns.items()):
        manifests.extend(campaign_manifests(campaign, recipes[campaign.pipeline], settings))
    return tuple(manifests)
