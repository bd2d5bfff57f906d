"""Between the messages of the contract and the embedder's own objects."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from chassis.errors import FieldViolation, InvalidArgument, Unavailable
from embedder_svc.chain_link import Embedding, ProviderDescription, ProviderState
from embedder_svc.embedder import EmbeddingRequest, ForgetRequest
from embedder_svc.embedding import EmbeddingPurpose, Vectors, unit_vectors
from embedder_svc.spaces import VectorSpace
from justesse.embedder.v1 import embedder_pb2 as pb

MAX_TEXTS = 256
MAX_TEXT_BYTES = 65_536
MAX_WORKSPACE_LENGTH = 128
MAX_CANARIES = 64

_PURPOSES = {
    pb.EMBEDDING_PURPOSE_UNSPECIFIED: EmbeddingPurpose.QUERY,
    pb.EMBEDDING_PURPOSE_QUERY: EmbeddingPurpose.QUERY,
    pb.EMBEDDING_PURPOSE_DOCUMENT: EmbeddingPurpose.DOCUMENT,
}
_STATES = {
    ProviderState.AVAILABLE: pb.PROVIDER_STATE_AVAILABLE,
    ProviderState.UNAVAILABLE: pb.PROVIDER_STATE_UNAVAILABLE,
    ProviderState.NOT_CONFIGURED: pb.PROVIDER_STATE_NOT_CONFIGURED,
    ProviderState.DRIFTED: pb.PROVIDER_STATE_DRIFTED,
}


def request_from(message: pb.EmbedTextsRequest) -> EmbeddingRequest:
    """Reads a request; raises InvalidArgument naming every field that is wrong."""
    violations = [
        *_text_violations(message.texts),
        *_other_violations(message),
        *_canary_violations(message),
    ]
    if violations:
        raise InvalidArgument(violations[0].description, violations=violations)
    return EmbeddingRequest(
        texts=tuple(message.texts),
        purpose=_PURPOSES[message.purpose],
        space=VectorSpace.parse(message.space_id) if message.HasField("space_id") else None,
        workspace=message.workspace,
        accept_failures=message.accept_failures,
        refuse_long_texts=message.refuse_long_texts,
        kept_canaries=_canaries_from(message),
    )


def forget_request_from(message: pb.ForgetTextsRequest) -> ForgetRequest:
    """Reads a request to forget; raises InvalidArgument if it names nothing or too much."""
    if not message.everything and not 1 <= len(message.texts) <= MAX_TEXTS:
        raise InvalidArgument(
            f"texts holds {len(message.texts)}; send 1 to {MAX_TEXTS}, or set everything",
            field="texts",
        )
    return ForgetRequest(tuple(message.texts), message.everything)


def embedding_to(embedding: Embedding) -> pb.EmbedTextsResponse:
    """Writes an answer; the vectors become one block of little-endian float32 in C order."""
    batch = embedding.batch
    return pb.EmbedTextsResponse(
        space_id=embedding.space.id,
        dimension=embedding.space.dimension,
        vectors=_block(batch.vectors),
        texts=[
            pb.EmbeddedText(
                token_count=text.token_count,
                token_count_estimated=text.token_count_estimated,
                sliced=text.sliced,
                cached=text.cached,
                failure=text.failure,
            )
            for text in batch.texts
        ],
        report=_report_to(embedding),
        canary_vector=None if embedding.canary is None else _block(embedding.canary),
    )


def _report_to(embedding: Embedding) -> pb.StageReport:
    capped = embedding.cost_capped
    return pb.StageReport(
        outcome=pb.STAGE_OUTCOME_DEGRADED if capped else pb.STAGE_OUTCOME_RAN,
        reason="DAILY_COST_CAP_REACHED" if capped else "",
        detail="the workspace may not pay for a better provider today" if capped else "",
        provider=embedding.provider,
        model=embedding.model,
        latency_ms=embedding.latency_ms,
        input_token_count=embedding.batch.token_count,
        cost=embedding.cost,
        currency=embedding.currency,
    )


def providers_to(descriptions: Iterable[ProviderDescription]) -> pb.DescribeProvidersResponse:
    """Writes the chain, in its order."""
    return pb.DescribeProvidersResponse(providers=[_provider_to(each) for each in descriptions])


def _provider_to(description: ProviderDescription) -> pb.Provider:
    price = description.price
    return pb.Provider(
        name=description.name,
        model=description.model,
        space_id=description.space.id,
        dimension=description.space.dimension,
        input_limit_tokens=description.limits.input_tokens,
        tokens_per_character=description.limits.tokens_per_character,
        state=_STATES[description.state],
        last_error=description.last_error,
        last_latency_ms=description.last_latency_ms,
        windows_recommended=description.limits.windows_recommended,
        canary_vector=_block(description.canary) if description.canary is not None else None,
        price_per_million_tokens=price.per_million_tokens if price is not None else None,
        currency=price.currency if price is not None else "",
    )


def _block(vectors: Vectors) -> bytes:
    return vectors.astype("<f4", order="C", copy=False).tobytes()


def _text_violations(texts: Sequence[str]) -> list[FieldViolation]:
    if not texts:
        return [FieldViolation("texts", f"texts is empty; send 1 to {MAX_TEXTS}")]
    if len(texts) > MAX_TEXTS:
        return [
            FieldViolation(
                "texts",
                f"texts holds {len(texts)}, where at most {MAX_TEXTS} are allowed; send less",
            )
        ]
    return [
        FieldViolation(f"texts[{index}]", f"texts[{index}] {problem}")
        for index, text in enumerate(texts)
        if (problem := _text_problem(text))
    ]


def _text_problem(text: str) -> str:
    # A NUL character says no more than a space to any model.
    if not text.replace("\0", " ").strip():
        return "is blank; leave it out or send some text"
    byte_count = len(text.encode())
    if byte_count > MAX_TEXT_BYTES:
        return f"has {byte_count} bytes, where at most {MAX_TEXT_BYTES} are allowed; split it"
    return ""


def _other_violations(message: pb.EmbedTextsRequest) -> list[FieldViolation]:
    violations = []
    if message.purpose not in _PURPOSES:
        known = ", ".join(pb.EmbeddingPurpose.keys())
        violations.append(
            FieldViolation("purpose", f"purpose {message.purpose} is unknown; known: {known}")
        )
    if message.HasField("space_id"):
        try:
            VectorSpace.parse(message.space_id)
        except InvalidArgument as error:
            violations.extend(error.violations)
    if len(message.workspace) > MAX_WORKSPACE_LENGTH:
        violations.append(
            FieldViolation(
                "workspace",
                f"workspace has {len(message.workspace)} characters, "
                f"where at most {MAX_WORKSPACE_LENGTH} are allowed",
            )
        )
    return violations


def _canaries_from(message: pb.EmbedTextsRequest) -> dict[str, Vectors]:
    kept = {one.space_id: _canary_from(one.vector) for one in message.kept_canaries}
    if message.HasField("canary_vector"):
        kept[message.space_id] = _canary_from(message.canary_vector)
    return kept


# A space's canary comes with every query of the space.
@lru_cache(MAX_CANARIES)
def _canary_from(block: bytes) -> Vectors:
    """Returns the vector with norm 1; raises ValueError or Unavailable where it has none."""
    row = np.frombuffer(block, dtype="<f4")
    unit: Vectors = unit_vectors(row[None, :], 1, row.size)[0]
    unit.flags.writeable = False
    return unit


def _canary_violations(message: pb.EmbedTextsRequest) -> list[FieldViolation]:
    problems = {}
    if message.HasField("canary_vector"):
        problem = _canary_problem(message.canary_vector)
        if not problem and not message.HasField("space_id"):
            problem = "means nothing without space_id"
        problems["canary_vector"] = problem
    if len({one.space_id for one in message.kept_canaries}) < len(message.kept_canaries):
        problems["kept_canaries"] = "names a space twice"
    if len(message.kept_canaries) > MAX_CANARIES:
        problems["kept_canaries"] = f"holds over {MAX_CANARIES}"
    for at, one in enumerate(message.kept_canaries):
        problems[f"kept_canaries[{at}].vector"] = _canary_problem(one.vector)
    return [
        FieldViolation(field, f"{field} {problem}")
        for field, problem in problems.items()
        if problem
    ]


def _canary_problem(block: bytes) -> str:
    try:
        _canary_from(block)
    except (ValueError, Unavailable):
        return "is not a block of finite float32 with a direction"
    return ""
