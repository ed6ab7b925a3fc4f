"""Which API server, and who asks: as kubectl finds it."""

import os
from pathlib import Path

import yaml
from kubernetes import config
from kubernetes.client.configuration import Configuration

from converter.errors import ClusterUnavailable


def load_configuration(kubeconfig: Path | None, context: str | None) -> Configuration:
    """The server and the credentials: of a kubeconfig if there is one, else the pod's own.

    Raises ClusterUnavailable when there are none that can be used.
    """
    configuration = Configuration()
    try:
        if kubeconfig or context or _default_kubeconfig_exists():
            _load_kubeconfig(kubeconfig, context, configuration)
        elif location := os.environ.get("KUBECONFIG"):
            raise ClusterUnavailable(f"there is no kubeconfig {location}: KUBECONFIG names it")
        else:
            config.load_incluster_config(client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        raise ClusterUnavailable(
            f"no credentials for a cluster: {one_line(error)}; "
            "set KUBECONFIG, or pass --kubeconfig or --context"
        ) from error
    return configuration


def one_line(error: BaseException) -> str:
    """What an error says, on one line of at most 300 characters."""
    return " ".join(str(error).split())[:300]


def _load_kubeconfig(
    kubeconfig: Path | None, context: str | None, configuration: Configuration
) -> None:
    location = str(kubeconfig or config.KUBE_CONFIG_DEFAULT_LOCATION)
    try:
        config.load_kube_config(
            config_file=location, context=context, client_configuration=configuration
        )
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError) as error:
        # The loader takes the file's structure for granted.
        raise ClusterUnavailable(
            f"{location} is not a kubeconfig: {one_line(error)}; put a valid one in its place, or "
            "pass another with --kubeconfig"
        ) from error


def _default_kubeconfig_exists() -> bool:
    locations = config.KUBE_CONFIG_DEFAULT_LOCATION.split(":")
    return any(Path(location).expanduser().is_file() for location in locations if location)
