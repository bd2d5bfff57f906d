"""Terms: what a query word finds, what stays exact, and where it stands in the text."""

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from text_analysis.tokens import LANGUAGES, Analyzer

FRENCH = Analyzer("fr")
ENGLISH = Analyzer("en")

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(list("aéBœl'’ -.,+#&/_½ﬁß1 23\u00a0\u00ad\u0301北京\n")),
        st.characters(codec="utf-8"),
    ),
    max_size=60,
)


def french_terms(text: str) -> list[str]:
    """Returns the terms of the text, found with and without spans."""
    return _terms_both_ways(FRENCH, text)


def english_terms(text: str) -> list[str]:
    """Returns the terms of the text, found with and without spans."""
    return _terms_both_ways(ENGLISH, text)


def _terms_both_ways(analyzer: Analyzer, text: str) -> list[str]:
    terms = analyzer.terms(text)
    assert terms == [token.term for token in analyzer.analyze(text)]
    return terms


@pytest.mark.parametrize(
    "forms",
    [
        ["eau", "l'eau", "L’EAU", "d'eau", "Eau.", "l´eau"],
        ["coeur", "cœur", "CŒUR"],
        ["ingénieur", "ingenieur", "INGÉNIEUR", "ingénieurs"],
        ["procédure", "procédures", "procedure", "PROCÉDURES"],
        ["école", "ecole", "l'école", "écoles"],
        ["livrées", "livrees", "livré", "livre"],
        ["données", "donnees"],
        ["activités", "activites", "activité"],
        ["avocat", "l’avocat"],
        ["été", "ete", "l'été", "e\u0301te\u0301"],
        ["jusqu'Évian", "évian", "EVIAN", "Evian"],
        ["3.14", "3,14"],
        ["1 234,56", "1 234,56", "1\u202f234,56"],
    ],
)
def test_french_forms_of_a_word_share_their_terms(forms: list[str]) -> None:
    """Elision, case, accents, ligatures, plural and typography do not hide a word."""
    terms = {tuple(french_terms(form)) for form in forms}

    assert len(terms) == 1
    assert terms != {()}


@pytest.mark.parametrize(
    "forms",
    [
        ["supplier", "supplier's", "suppliers", "Suppliers’"],
        ["order", "ORDERS", "order's"],
        ["1,234.56", "1234.56"],
        ["1,234", "1234"],
    ],
)
def test_english_forms_of_a_word_share_their_terms(forms: list[str]) -> None:
    """Possessive, case, plural and thousands signs do not hide a word."""
    terms = {tuple(english_terms(form)) for form in forms}

    assert len(terms) == 1
    assert terms != {()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C++", ["c++"]),
        ("C#", ["c#"]),
        ("C/C++", ["c++"]),
        ("Notepad++", ["notepad++"]),
        ("BL-2024-117", ["bl-2024-117", "bl", "2024", "117"]),
        ("bl\u20112024\u2011117", ["bl-2024-117", "bl", "2024", "117"]),
        ("3.14", ["3.14"]),
        ("1 234,56", ["1234.56", "1", "234.56"]),
        ("½", ["1/2", "1", "2"]),
        ("12/04/2024", ["12/04/2024", "12", "04", "2024"]),
        ("pb_ai_config", ["pb_ai_config", "pb", "config"]),
        ("R&D", ["r&d", "r"]),
        ("H2O A4", ["h2o", "a4"]),
        ("l'U.E. et la S.A.R.L.", ["ue", "sarl"]),
        ("bac+5", ["bac", "5"]),
        ("北京烤鸭", ["北京", "京烤", "烤鸭"]),
        ("北", ["北"]),
        ("aujourd’hui", ["aujourd'hui"]),
        ("c'est-à-dire l'arrière-plan", ["dir", "arri", "plan"]),
        ("", []),
        (" … ! \n", []),
    ],
)
def test_exact_names_and_numbers_stay_findable(text: str, expected: list[str]) -> None:
    """Identifiers give one exact term and their parts; signs that belong to a name stay."""
    assert french_terms(text) == expected


def test_cjk_words_are_found_inside_a_run() -> None:
    """A run without blanks is found by any two neighbouring characters."""
    assert set(french_terms("烤鸭")) <= set(french_terms("北京烤鸭很好"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n'est pas", ["ne", "pas"]),
        ("ne pas", ["ne", "pas"]),
        ("sans délai", ["san", "del"]),
        ("non, ni plus", ["non", "ni", "plus"]),
        ("le la les de du qu'il d'un", []),
    ],
)
def test_french_stop_words_keep_negations(text: str, expected: list[str]) -> None:
    """Articles and pronouns go; what turns the meaning round stays."""
    assert french_terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("isn't", ["not"]),
        ("don’t ship", ["not", "ship"]),
        ("without", ["without"]),
        ("no, nor not", ["no", "nor", "not"]),
        ("of the and you'll", []),
        ("US IT WHO", ["us", "it", "who"]),
    ],
)
def test_english_stop_words_keep_negations_and_names(text: str, expected: list[str]) -> None:
    """`n't` is `not`; pronouns that are names in capitals stay."""
    assert english_terms(text) == expected


def test_offsets_point_at_the_word_without_its_article() -> None:
    """A highlight of `eau` or `Évian` covers the word, not `L’` or `d'`."""
    text = "L’eau d'E\u0301vian, ﬁltrée"

    spans = [text[token.start : token.end] for token in FRENCH.analyze(text)]

    assert spans == ["eau", "E\u0301vian", "ﬁltrée"]


def test_an_identifier_spans_its_parts() -> None:
    """The exact term covers the whole identifier, each part its own piece."""
    text = "Bon BL-2024-117."

    spans = [(token.term, text[token.start : token.end]) for token in FRENCH.analyze(text)]

    assert spans == [
        ("bon", "Bon"),
        ("bl-2024-117", "BL-2024-117"),
        ("bl", "BL"),
        ("2024", "2024"),
        ("117", "117"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=TEXTS)
@settings(derandomize=True, max_examples=300)
def test_tokens_have_terms_without_blanks_and_spans_inside_the_text(
    language: str, text: str
) -> None:
    """Terms are non-empty and free of blanks; spans are non-empty, inside, and never go back."""
    tokens = {"fr": FRENCH, "en": ENGLISH}[language].analyze(text)

    assert all(token.term and token.term == "".join(token.term.split()) for token in tokens)
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)
    starts = [token.start for token in tokens]
    assert starts == sorted(starts)


@given(text=st.text(alphabet="aeéèÉœŒçlnLD'’ BL-2024.,\n", max_size=40))
@settings(derandomize=True, max_examples=200)
def test_typography_and_composition_do_not_change_terms(text: str) -> None:
    """Apostrophe style, case and Unicode composition never change what is found."""
    expected = french_terms(text)

    assert french_terms(text.replace("’", "'")) == expected
    assert french_terms(text.upper()) == expected
    assert french_terms(unicodedata.normalize("NFD", text)) == expected


@given(word=st.text(alphabet="abcdeéèêilmnoôprstuùç", min_size=1, max_size=14))
@settings(derandomize=True, max_examples=300)
def test_french_terms_are_stable_under_analysis(word: str) -> None:
    """Analysing a term again gives the same term or nothing, so both spellings meet there."""
    for term in french_terms(word):
        assert french_terms(term) in ([term], [])


def test_an_analyzer_is_shared_between_threads() -> None:
    """Concurrent use gives the terms of sequential use."""
    texts = [f"procédures d'importation numéro {number} livrées sans délai" for number in range(64)]
    expected = [Analyzer("fr").terms(text) for text in texts]
    shared = Analyzer("fr")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(shared.terms, texts)) == expected


def test_an_unknown_language_is_refused() -> None:
    """The error names the language and the choice."""
    with pytest.raises(ValueError, match=r"'de'.*'fr', 'en'"):
        Analyzer("de")
