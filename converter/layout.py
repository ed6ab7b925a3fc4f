"""What every pod is given, in one place: rules speak of it, and rendering writes it."""

from typing import Final

from converter.model import Size

WORK_PATH: Final = "/work"
DATA_PATH: Final = "/data"
CONFIG_PATH: Final = "/config"
CAMPAIGN_PATH: Final = "/campaign"
S3_PATH: Final = "/secrets/s3"

# A pipeline without a size. Its pods may use more memory than they ask for.
DEFAULT_SIZE: Final = Size(name="", cpu="4", memory="8Gi", gpu=1, workdir="2Gi")
DEFAULT_MEMORY_LIMIT: Final = "16Gi"

# What a pod has left to run in when its wait for the warm-up ends, in seconds: enough for the
# kubelet to see exit code 13 before the deadline, which would count as a failure to retry.
GATE_MARGIN: Final = 10
