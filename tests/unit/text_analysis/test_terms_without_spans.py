"""Terms without spans: the same as with them, for any text, in time that grows with the text."""

import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.normalisation import normalise, normalised_text
from text_analysis.tokens import LANGUAGES, Analyzer
from text_analysis.word_cache import LONGEST_KNOWN, WordCache

# Not `split`: no-break spaces belong to their fragments.
FRAGMENTS = re.findall(
    "[^ \n]+",
    """
    l' d’ qu' n'est jusqu'Évian aujourd’hui presqu’île isn't don’t supplier’s you'll rock'n'roll
    été e\u0301te\u0301 ŒUVRE cœur ﬁche ﬀ Straße İ Σίσυφος co\u00adopération \u00ad \u200d \u0301
    BL-2024-117 bl\u20112024\u2011117 pb_ai_config a.b@c.fr C++ C# C/C++ Notepad++ R&D U.E. c++-1
    1 12 234 567 (1 234) 5678 12x 567,89 3.14 1,234.56 1,234 12/04/2024 ½ ① ² ㏠ n°5 ３ １２３ ٣٤٥
    1\u00a0234 1\u202f234,56 2024, -5 a-1
    北京烤鸭 東京 カ\uff9e 한국 हिन्दी 👩\u200d💻 🚢 … « » – les livrées procédures orders without
    """,
)
BLANKS = [" ", "  ", "\n", "\t", "\u00a0", "\u202f", "\u2028", ""]

HOSTILE = st.one_of(
    st.lists(st.tuples(st.sampled_from(FRAGMENTS), st.sampled_from(BLANKS)), max_size=16).map(
        lambda parts: "".join(fragment + blank for fragment, blank in parts)
    ),
    st.lists(st.from_regex(r"[(a-]?[0-9]{1,4}([.,][0-9]+)?x?", fullmatch=True), max_size=8).map(
        " ".join
    ),
    st.text(
        alphabet=st.one_of(
            st.sampled_from(list("aéBœl'’ -.,+#&/_½ﬁß1 23\u00a0\u00ad\u0301北京\n")),
            st.characters(codec="utf-8"),
        ),
        max_size=60,
    ),
)

PARAGRAPHS = [
    "L’avenant n° 12 fixe le prix à 1 234,56 € la tonne, soit 12 000 000 € pour l’année 2024. "
    "Les procédures d’importation, jusqu’à présent jamais auditées, n’ont pas été livrées.\n\n"
    "- Réf. BL-2024-117, cf. art. 12 du Code\n- Tél. 01 23 45 67 89\n- qu'est-ce que c'est ?",
    "The supplier's orders weren't shipped: 1,234.56 USD, 3 000 units, see PO_2024-07 and R&D's "
    "notes on C++ and C#. Don't send invoices without customers’ approval (U.S. only).",
]

FRENCH = Analyzer("fr")


def _terms_of_tokens(language: str, text: str) -> list[str]:
    return [token.term for token in Analyzer(language).analyze(text)]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=HOSTILE)
@settings(derandomize=True, max_examples=600, deadline=None)
def test_terms_are_those_of_the_tokens(language: str, text: str) -> None:
    """The way without spans gives the same terms, for words seen before and for new ones."""
    analyzer = Analyzer(language)
    expected = _terms_of_tokens(language, text)

    assert analyzer.terms(text) == expected
    assert analyzer.terms(text) == expected


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", PARAGRAPHS)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_terms_of_prose_are_those_of_the_tokens(language: str, text: str, form: str) -> None:
    """Business prose of either language, composed or not, gives the same terms both ways."""
    written = unicodedata.normalize("NFD" if form == "NFD" else "NFC", text)
    expected = _terms_of_tokens(language, written)

    assert expected
    assert Analyzer(language).terms(written) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vendu 1 234 567,5 euros", ["vendu", "1234567.5", "1", "234", "567.5", "euros"]),
        ("(1 234)", ["1234", "1", "234"]),
        ("1\u00ad 234", ["1234", "1", "234"]),
        ("１ ２３４", ["1234", "1", "234"]),
        ("1  234", ["1", "234"]),
        ("1\n234", ["1", "234"]),
        ("a-1 234", ["a-1", "1", "234"]),
        ("1 234 567x", ["1", "234", "567x"]),
        ("1 234 5678", ["1", "234", "5678"]),
    ],
)
def test_only_numbers_reach_over_blanks(text: str, expected: list[str]) -> None:
    """Thousands set apart are one number; a letter, a fourth digit or a line break parts them."""
    assert FRENCH.terms(text) == expected
    assert _terms_of_tokens("fr", text) == expected


@given(text=HOSTILE)
@settings(derandomize=True, max_examples=300, deadline=None)
def test_normalisation_without_spans_gives_the_same_text(text: str) -> None:
    """Whatever its characters expand or compose to."""
    assert normalised_text(text) == normalise(text).text


@given(
    marks=st.text(
        "\u0301\u0327\u0323\u0344\u0345\u0f71\u0f73\u093c\uff9e", min_size=30, max_size=90
    )
)
@settings(derandomize=True, max_examples=200)
def test_many_marks_are_put_in_the_order_of_unicode(marks: str) -> None:
    """Long runs of marks normalise to what NFKC and case folding make of them."""
    expected = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", "é" + marks).casefold())

    assert normalise("É" + marks).text == expected
    assert normalised_text("É" + marks) == expected


def test_long_runs_take_time_in_proportion() -> None:
    """Numbers that end in a letter, and marks out of order, would take hours if retried."""
    numbers = "123 " * 200_000 + "123x"
    marks = "a" + "\u0301\u0327" * 200_000
    voiced = "a" + "\uff9e\u093c" * 200_000

    assert FRENCH.terms(numbers) == ["123"] * 200_000 + ["123x"]
    assert FRENCH.terms(marks) == [token.term for token in FRENCH.analyze(marks)]
    assert FRENCH.terms(voiced) == [token.term for token in FRENCH.analyze(voiced)]


def test_the_cache_holds_no_more_words_than_its_limit() -> None:
    """Any number of words passes through; each gets its own terms, known or forgotten."""
    cache = WordCache(lambda word: (word.upper(),), 10)

    for number in [*range(100), *range(100)]:
        assert cache[f"w{number}"] == (f"W{number}",)
        assert 0 < len(cache) <= 10


def test_a_known_word_is_computed_once_and_a_huge_one_never_kept() -> None:
    """The memory of the cache is bounded by words of bounded length."""
    computed: list[str] = []

    def terms_of(word: str) -> tuple[str, ...]:
        computed.append(word)
        return (word,)

    cache = WordCache(terms_of, 10)
    longest, huge = "x" * LONGEST_KNOWN, "x" * (LONGEST_KNOWN + 1)
    for word in (longest, longest, huge, huge):
        assert cache[word] == (word,)

    assert computed == [longest, huge, huge]
    assert list(cache) == [longest]


def test_a_full_cache_is_shared_between_threads() -> None:
    """Threads that keep emptying the cache still read the terms of their own words."""
    cache = WordCache(lambda word: (word, word), 8)

    def wrong(seed: int) -> int:
        words = [f"w{(seed * number) % 31}" for number in range(5_000)]
        return sum(cache[word] != (word, word) for word in words)

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(wrong, range(1, 17))) == 0
    assert len(cache) <= 8
