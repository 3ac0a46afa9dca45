"""Broken on purpose: it must be a warning, and stop nobody."""

import a_package_that_nobody_has  # noqa: F401
