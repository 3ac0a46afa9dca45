"""Whether and how the response of a sample arrived."""

from __future__ import annotations

from foreshock.readers._inspect_types import Output, Sample
from foreshock.records import Delivery

_LIMITS = {"time": Delivery.TIMEOUT, "working": Delivery.TIMEOUT, "operator": Delivery.CANCELLED}
_CUT = frozenset({"max_tokens", "model_length", "length"})  # "length" is the old spelling


def delivery(sample: Sample) -> Delivery:
    """Delivery of a sample, by the first rule that applies; never guessed from what the text says.

    An error decides first, then the limit that ended the sample, then what the last generation says of itself. A
    sample without any generation is ``ok`` when a scorer gave a value all the same (there was something to score
    besides text), else ``missing``.
    """
    if sample.error is not None:
        return _of_error(sample.error.message or "")
    if sample.limit is not None:
        return _LIMITS.get(sample.limit.type or "", Delivery.TRUNCATED)
    output = sample.output
    if output is None or not output.choices:
        return Delivery.OK if sample.scores or sample.score else Delivery.MISSING
    if _refused(output):
        return Delivery.REFUSED
    reason = output.choices[0].stop_reason
    if reason == "content_filter" or output.error is not None:
        return Delivery.BLOCKED
    return Delivery.TRUNCATED if reason in _CUT else Delivery.OK


def _of_error(message: str) -> Delivery:
    if message.startswith("CancelledError("):  # killed because a neighbour failed, or by hand
        return Delivery.CANCELLED
    return Delivery.TIMEOUT if message.startswith("TimeoutError(") else Delivery.ERROR


def _refused(output: Output) -> bool:
    message = output.choices[0].message if output.choices else None
    if message is None or not isinstance(message.content, list):
        return False
    return any(part.refusal and part.type in (None, "text") for part in message.content)
