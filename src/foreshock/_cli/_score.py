"""`foreshock score`: apply metrics to stored responses."""

from __future__ import annotations
