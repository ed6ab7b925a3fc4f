"""GitOps for batch campaigns: git says what should run, one command makes the cluster agree.

Data flows one way through the package::

    files --load--> Repo --checks--> [Problem] --render--> [Manifest]      pure, no network
    Manifests + Live --plan--> Plan --execute--> Outcome --cli--> terminal, JSON, CI
"""

__version__ = "0.1.0"
