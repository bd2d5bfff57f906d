"""Orders as chat models write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reranker_svc.chat.listwise_answer import order_from

COUNT = 6


@pytest.mark.parametrize(
    ("answer", "order"),
    [
        ("2,0,5,1", (2, 0, 5, 1)),
        ("2, 0, 5, 1", (2, 0, 5, 1)),
        ("2 0 5 1", (2, 0, 5, 1)),
        ("2\n0\n5", (2, 0, 5)),
        ("- 2\n- 0\n- 5", (2, 0, 5)),
        ("[2, 0, 5]", (2, 0, 5)),
        ("[2] > [0] > [5]", (2, 0, 5)),
        ('["2", "0", "5"]', (2, 0, 5)),
        ('{"order": [2, 0, 5]}', (2, 0, 5)),
        ('```json\n{"ranking": [2, 0, 5]}\n```', (2, 0, 5)),
        ('[{"index": 2, "score": 9}, {"index": 0, "score": 3}]', (2, 0)),
        ("Passage 2 > Passage 0 > Passage 5", (2, 0, 5)),
        ("Doc: 2, Relevance: 9\nDoc: 0, Relevance: 3", (2, 0)),
        ("Doc: 2, Relevance: 9\nIn short, doc 2 wins.", (2,)),
        ("1. Passage 2\n2. Passage 0\n3. Passage 5", (2, 0, 5)),
        ("1. 2\n2. 0\n3. 5", (2, 0, 5)),
        ("1) [4]\n2) [0]", (4, 0)),
        ("2 (0.95), 0 (0.90), 5 (0.1)", (2, 0, 5)),
        ("2 (95 %), 0 (90 %)", (2, 0)),
        ("2: 9/10", (2,)),
        ("Voici les 6 passages classés : 2, 0, 5, 1.", (2, 0, 5, 1)),
        ("The order is 2, 0, 5 since order BL-2024-117 of 12 May 2024 is named in 2.", (2, 0, 5)),
        ("2-0-5", (2, 0, 5)),
        ("2", (2,)),
        ("**2**", (2,)),
        ("Réponse : passage 4", (4,)),
        ("1: 2\n2: 0\n3: 5", (2, 0, 5)),
        ("**1.** Passage 2\n**2.** Passage 0", (2, 0)),
        ("1. [2] Order 5 of May\n2. [0] Nothing", (2, 0)),
        ("| Rank | Passage | Score |\n|---|---|---|\n| 1 | 2 | 95 |\n| 2 | 0 | 4 |", (2, 0)),
        ("| Passage | Score |\n|---|---|\n| 2 | 0.95 |\n| 0 | 0.9 |", (2, 0)),
        ('{"2": 0.95, "0": 0.9}', (2, 0)),
        ('{"2": 5, "0": 3}', (2, 0)),
        ('{\n  "order": [\n    2,\n    0\n  ]\n}', (2, 0)),
        ('{"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0}]}', (2, 0)),
        ('{"ranking": [2, 0], "irrelevant": [1, 3, 4, 5]}', (2, 0, 1, 3, 4, 5)),
        ("[2] > [1] = [0]", (2, 1, 0)),
        ("2, puis 0 et 5", (2, 0, 5)),
        ("- [2] Surestaries\n- [0] Fioul", (2, 0)),
        ("2 - le délai de 3 jours\n0 - le fioul", (2, 0)),
        ("2 (5), 0 (3)", (2, 0)),
        ("Top 3\n2,0,1", (2, 0, 1)),
        ("Le 12/05/2024, passages 2 et 0.", (2, 0)),
        ("Passage 2 wins, passage 0 is fine. Passages 1, 3, 4, 5 say nothing.", (2, 0, 1, 3, 4, 5)),
        ("Passages 0, 1 and 3 name gas.\nThus 0,1,3\nNo: 5,2,0\nAnswer: 2,0,5", (2, 0, 5)),
        ("2,0,1\n\nPassages 3, 4, 5 and 1 say nothing of it.", (2, 0, 1)),
    ],
)
def test_an_order_is_read_as_it_is_written(answer: str, order: tuple[int, ...]) -> None:
    """Commas, blanks, brackets, JSON, names, numbered lines, scores and prose around."""
    assert order_from(answer, COUNT) == order


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "None of them.",
        "Aucun de ces 6 passages ne répond.",
        "I cannot rank 3 passages.",
        "Aucun : la commande 4 n'y est pas.",
        "99, 100, 101",
        "-1",
        "2024-05-12 est la date.",
        "2024-02-01",
        "1,200 conteneurs, soit 1 200 euros.",
        "Passages 0-2 are of no use.",
        "1. Passage about gas\n2. Passage about oil",
    ],
)
def test_an_answer_without_an_order_names_nothing(answer: str) -> None:
    """A number in a sentence, a date, a thousand or a range is not the number of a passage."""
    assert order_from(answer, 3) == ()


@pytest.mark.parametrize(
    ("answer", "count", "order"),
    [
        ("3, 1, 2", 3, (2, 0, 1)),
        ("Doc: 3, Doc: 1", 3, (2, 0)),
        ("2, 1", 3, (2, 1)),
        ("3, 0, 1", 3, (0, 1)),
        ("3, 1, 9", 3, (1,)),
        ("0, 1, 2", 3, (0, 1, 2)),
    ],
)
def test_an_answer_counts_from_one_only_if_that_is_proved(
    answer: str, count: int, order: tuple[int, ...]
) -> None:
    """A zero, a number that is too large either way, or nothing over the top leave it at zero."""
    assert order_from(answer, count) == order


@pytest.mark.parametrize(
    ("answer", "order"),
    [("2, 2, 0, 2, 1", (2, 0, 1)), ("2, 7, 0, -1, 1", (2, 0, 1)), ("Doc: 0, Doc: -1", (0,))],
)
def test_what_names_no_passage_is_left_out(answer: str, order: tuple[int, ...]) -> None:
    """Repeated, too large and negative numbers; nothing wraps round to another passage."""
    assert order_from(answer, 3) == order


@pytest.mark.parametrize(
    "junk",
    ["1", "1 ", "0,", "1. " + " " * 50, ":", "1:", "passage ", "\n", "1/", "1.1", "(1", "et ", "-"],
)
def test_junk_without_end_is_read_in_time_that_does_not_grow(junk: str) -> None:
    """What stands behind the first 20,000 characters changes nothing; those take no search."""
    endless = junk * (1_000_000 // len(junk))

    assert order_from(endless, 3) == order_from(endless[:20_000], 3)
    assert order_from(f"2,0,1\nend {endless}", 3)[:1] == (2,)


@settings(derandomize=True, max_examples=300)
@given(st.text(alphabet='0123456789,.- []>\n:%/()abcdocé{}"', max_size=60), st.integers(2, 12))
def test_whatever_the_answer_the_order_is_one_of_passages(answer: str, count: int) -> None:
    """No crash, no passage twice, none that is not there."""
    order = order_from(answer, count)

    assert len(set(order)) == len(order)
    assert all(0 <= index < count for index in order)


@settings(derandomize=True, max_examples=100)
@given(st.data())
def test_a_plain_permutation_is_read_back(data: st.DataObject) -> None:
    """From two passages to twenty, with any usual separator."""
    order = tuple(data.draw(st.permutations(range(data.draw(st.integers(2, 20))))))
    separator = data.draw(st.sampled_from([",", ", ", " ", "\n", " > ", "; "]))

    assert order_from(separator.join(map(str, order)), len(order)) == order
