"""A link with two constants, the same for all models, where nothing is known of the items: an offset and a slope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from foreshock.mirage._beneath import Response
from foreshock.stats import Link, cloglog, loglog

if TYPE_CHECKING:
    from foreshock.mirage._design import Floats

_STEPS, _MORE = 40, 6
_END = 1e-9


def two_constants(share: Floats, z: Floats, link: Link) -> tuple[Response, str]:
    """Share of the scale as the inverse of the link at offset + slope z, fitted to each draw.

    The offset holds the number of parts and their dependence, the slope what differs between items. Noise of the
    models moves twin and hard metric alike, so it drops out.

    Args:
        share: Hard metric, row 0 as observed, further rows joint draws, shape (1 + draws, points).
        z: Twin on the link in the same rows.
        link: Link that belongs to both.
    """
    centre = z.mean(axis=1, keepdims=True)
    first = _fisher(share[:1], z[:1] - centre[:1], link, np.zeros((1, 1)), np.ones((1, 1)), _STEPS)
    start = [np.repeat(v, share.shape[0], axis=0) for v in first]
    offset, slope = _fisher(share, z - centre, link, start[0], start[1], _MORE)
    offset, slope = np.concatenate([first[0], offset[1:]]), np.concatenate([first[1], slope[1:]])

    def respond(rows: Floats) -> Floats:
        return np.asarray(link.inverse(offset + slope * (rows - centre)))

    return respond, f"offset and slope on {link.name}, fitted to all models"


def line(value: Floats, z: Floats) -> tuple[Response, str]:
    """The hard metric as a straight line in its twin, for a metric that is as linear as its twin."""
    mean, centre = value.mean(axis=1, keepdims=True), z.mean(axis=1, keepdims=True)
    x = z - centre
    slope = (x * (value - mean)).sum(axis=1, keepdims=True) / np.maximum((x**2).sum(axis=1, keepdims=True), 1e-300)
    return lambda rows: mean + slope * (rows - centre), "proportional to the twin"


def _rate(p: Floats, link: Link) -> Floats:
    """Derivative of the inverse link at share p."""
    if link is loglog:
        return np.asarray(-p * np.log(p))
    if link is cloglog:
        return np.asarray(-(1 - p) * np.log1p(-p))
    return p * (1 - p)


def _fisher(share: Floats, x: Floats, link: Link, offset: Floats, slope: Floats, steps: int) -> tuple[Floats, Floats]:
    """Penalised Fisher scoring; shapes (rows, 1).

    The penalty (slope near 1, weight 1% of one point) matters only where the points alone would send the slope to
    infinity: a hard metric that is 0 up to some point and 1 from there on.
    """
    for _ in range(steps):
        p = np.clip(link.inverse(np.clip(offset + slope * x, -30.0, 30.0)), _END, 1 - _END)
        rate = np.maximum(_rate(p, link), _END)
        weight = rate**2 / (p * (1 - p))
        score = rate * (share - p) / (p * (1 - p))
        g0, g1 = score.sum(axis=1), (score * x).sum(axis=1) - 0.01 * (slope[:, 0] - 1)
        h00, h01 = weight.sum(axis=1) + _END, (weight * x).sum(axis=1)
        h11 = (weight * x**2).sum(axis=1) + 0.01
        det = np.maximum(h00 * h11 - h01**2, 1e-12)
        moves = np.clip((h11 * g0 - h01 * g1) / det, -1, 1), np.clip((h00 * g1 - h01 * g0) / det, -1, 1)
        offset, slope = offset + moves[0][:, None], slope + moves[1][:, None]
        if max(np.abs(moves[0]).max(), np.abs(moves[1]).max()) < 1e-6:
            break
    return offset, slope
