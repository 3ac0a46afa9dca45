"""The vocabulary: what a run, an item, a response and a finding are."""

from foreshock.records._batch import MAX_BYTES, MAX_ROWS, Batch
from foreshock.records._card import ModelCard
from foreshock.records._finding import (
    Alternative,
    Document,
    Dummy,
    Effect,
    Evidence,
    Finding,
    Fit,
    Need,
    Rate,
    Subject,
    TrustCard,
)
from foreshock.records._item import item_key
from foreshock.records._model import Message, Model, Reply, Request, Token
from foreshock.records._names import PROVIDERS, parse_model
from foreshock.records._run import Counts, Run, Source, ingest_id, run_key
from foreshock.records._schema import SCHEMA_VERSION, TABLES, Column
from foreshock.records._states import Delivery, Light, RunStatus, ScoreStatus, State

__all__ = [
    "MAX_BYTES",
    "MAX_ROWS",
    "PROVIDERS",
    "SCHEMA_VERSION",
    "TABLES",
    "Alternative",
    "Batch",
    "Column",
    "Counts",
    "Delivery",
    "Document",
    "Dummy",
    "Effect",
    "Evidence",
    "Finding",
    "Fit",
    "Light",
    "Message",
    "Model",
    "ModelCard",
    "Need",
    "Rate",
    "Reply",
    "Request",
    "Run",
    "RunStatus",
    "ScoreStatus",
    "Source",
    "State",
    "Subject",
    "Token",
    "TrustCard",
    "ingest_id",
    "item_key",
    "parse_model",
    "run_key",
]
