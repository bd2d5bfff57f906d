"""How texts are read as switch values."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.switches.values import DEFINITIONS, SwitchValues, read_count, read_truth, written


@pytest.mark.parametrize("text", ["true", "TRUE", "True", "1", "on", "ON", " true "])
def test_words_for_true(text: str) -> None:
    """These turn a switch on, in any case."""
    assert read_truth(text) is True


@pytest.mark.parametrize("text", ["false", "FALSE", "0", "off", "Off", "\tfalse\n"])
def test_words_for_false(text: str) -> None:
    """These turn a switch off, in any case."""
    assert read_truth(text) is False


@pytest.mark.parametrize("text", ["", "yes", "2", "truefalse", "vrai", "None", "x" * 10_000])
def test_other_words_are_refused(text: str) -> None:
    """Anything else is named, in a message of bounded length."""
    with pytest.raises(ValueError, match="expected true or false") as refused:
        read_truth(text)

    assert len(str(refused.value)) < 100


@pytest.mark.parametrize(
    "text", ["", "0", "201", "-1", "1.5", "1e2", "²", "١", "9" * 10_000, "true"]
)
def test_counts_outside_the_range_are_refused(text: str) -> None:
    """Only whole numbers from 1 to 200 in plain digits are counts."""
    with pytest.raises(ValueError, match="whole number from 1 to 200"):
        read_count(text)


@given(st.integers(min_value=1, max_value=200))
@settings(derandomize=True, max_examples=30)
def test_counts_are_read_as_they_are_written(count: int) -> None:
    """Writing and reading a count changes nothing."""
    assert read_count(written(count)) == count


@given(st.text(max_size=30))
@settings(derandomize=True, max_examples=100)
def test_no_text_gives_more_than_a_value_error(text: str) -> None:
    """Whatever the table holds, reading gives a value in range or a ValueError."""
    for definition in DEFINITIONS.values():
        try:
            value = definition.read(text)
        except ValueError:
            continue
        assert value in (True, False) or 1 <= value <= 200


def test_the_five_switches_and_their_defaults() -> None:
    """Keys and defaults are those a host system writes, and the values of a request agree."""
    assert {key: written(each.default) for key, each in DEFINITIONS.items()} == {
        "rag_query_rewrite_enabled": "true",
        "rag_hybrid_search_enabled": "true",
        "rag_reranking_enabled": "true",
        "rag_hybrid_candidate_count": "20",
        "rag_rerank_candidate_count": "10",
    }
    assert SwitchValues() == SwitchValues(True, True, True, 20, 10)
    assert list(DEFINITIONS) == sorted(DEFINITIONS)
