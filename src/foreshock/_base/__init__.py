"""Ground floor: errors, configuration, canonical JSON, plugins, progress."""

from foreshock._base._clock import utc_now
from foreshock._base._config import STORE_FOLDER, AlarmsConfig, Config, Threshold, load_config, read_toml
from foreshock._base._errors import (
    AmbiguousError,
    BrokenFileError,
    ConfigError,
    ForeshockError,
    MetricError,
    MissingExtraError,
    ModelError,
    NotEnoughDataError,
    ReadError,
    SchemaVersionError,
    StoreError,
    UnknownFormatError,
)
from foreshock._base._extras import require
from foreshock._base._json import canonical, digest, pretty
from foreshock._base._plugins import load_plugins
from foreshock._base._progress import Progress, quiet
from foreshock._base._words import count_of, nearest

__all__ = [
    "STORE_FOLDER",
    "AlarmsConfig",
    "AmbiguousError",
    "BrokenFileError",
    "Config",
    "ConfigError",
    "ForeshockError",
    "MetricError",
    "MissingExtraError",
    "ModelError",
    "NotEnoughDataError",
    "Progress",
    "ReadError",
    "SchemaVersionError",
    "StoreError",
    "Threshold",
    "UnknownFormatError",
    "canonical",
    "count_of",
    "digest",
    "load_config",
    "load_plugins",
    "nearest",
    "pretty",
    "quiet",
    "read_toml",
    "require",
    "utc_now",
]
