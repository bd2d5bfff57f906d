"""Page tokens: opaque to callers; inside stands what is left of the order of the first page.

They are not signed: a forged one can only reorder what its bearer may search for anyway.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from chassis.errors import InvalidArgument
from gateway.questions import Question
from gateway.rewriting import Wording

_LAYOUT = 1
_MAX_LENGTH = 64 * 1024
_MAX_WORDINGS = 8
_MAX_WEIGHT = 1_000
_FINGERPRINT_BYTES = 12


@dataclass(frozen=True, slots=True)
class KeptOrder:
    """What the pages before left: passages in order, and the wordings that were searched.

    `shown_count` hits were on those pages, `total_count` are on all, documents where grouped.
    """

    passage_ids: tuple[str, ...]
    wordings: tuple[Wording, ...]
    shown_count: int
    total_count: int


def token_of(kept: KeptOrder, question: Question) -> str:
    """Returns the token of the page that begins with what was kept."""
    parts = [
        _LAYOUT,
        _fingerprint(question),
        kept.shown_count,
        kept.total_count,
        [(each.text, each.dense_weight, each.lexical_weight) for each in kept.wordings],
        kept.passage_ids,
    ]
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode()


def kept_order_from(token: str, question: Question) -> KeptOrder:
    """Reads a token. InvalidArgument unless it was given with an answer to this question."""
    if len(token) > _MAX_LENGTH:
        _refuse("was not given by this service")
    try:
        parts: Any = orjson.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        _refuse("was not given by this service")
    match parts:
        case [int(layout), str(fingerprint), int(shown), int(total), list(given), list(ids)]:
            wordings = [_wording_from(each) for each in given]
            if (
                layout != _LAYOUT
                or min(shown, total) < 0
                or not 1 <= len(wordings) <= _MAX_WORDINGS
                or not all(isinstance(each, str) for each in ids)
            ):
                _refuse("was not given by this service")
            if fingerprint != _fingerprint(question):
                _refuse("belongs to another question, or to other options of it")
            return KeptOrder(tuple(ids), tuple(wordings), shown, total)
        case _:
            _refuse("was not given by this service")


def _wording_from(parts: Any) -> Wording:
    match parts:
        case [str(text), float(dense) | int(dense), float(lexical) | int(lexical)] if (
            text.strip() and 0 <= dense <= _MAX_WEIGHT and 0 <= lexical <= _MAX_WEIGHT
        ):
            return Wording(text, dense, lexical)
        case _:
            _refuse("was not given by this service")


def _refuse(why: str) -> NoReturn:
    raise InvalidArgument(
        f"page_token {why}; leave it out to begin with the first page", field="page_token"
    )


def _fingerprint(question: Question) -> str:
    """Names everything that decides what is found and in which order; the page size does not."""
    decisive = (
        question.workspace,
        question.query,
        question.history,
        question.filter,
        question.thresholds,
        sorted(question.context.items()),
        question.passages_per_document,
        question.group_by_document,
        question.candidate_count,
        question.fusion,
    )
    return hashlib.sha256(repr(decisive).encode()).hexdigest()[: 2 * _FINGERPRINT_BYTES]
