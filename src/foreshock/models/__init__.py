"""Models: how one is reached. Nothing leaves the machine unless an endpoint is named."""

from foreshock.models._ask import ask
from foreshock.models._callable import CallableModel
from foreshock.models._collect import Asking, collect
from foreshock.models._endpoint import Endpoint
from foreshock.models._recorded import Recorded

__all__ = ["Asking", "CallableModel", "Endpoint", "Recorded", "ask", "collect"]
