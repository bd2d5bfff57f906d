"""Highlights: what of a text holds terms of a question, in its own code points."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from text_analysis.highlights import Highlighter
from text_analysis.tokens import Analyzer


def marked(text: str, *wordings: str, language: str = "fr") -> list[str]:
    """Returns the highlighted parts of a text."""
    spans = Highlighter(wordings).spans(text, language)
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "question", "parts"),
    [
        ("L’EAU d'Évian et les eaux usées", "eau", ["EAU", "eaux"]),
        ("au cœur du sujet", "coeur", ["cœur"]),
        ("au coeur du sujet", "CŒUR", ["coeur"]),
        ("l'inge\u0301nieur et l’INGÉNIEUR", "ingenieur", ["inge\u0301nieur", "INGÉNIEUR"]),
        ("Straße und STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("\ufb01nance et ﬁnances", "finance", ["\ufb01nance", "ﬁnances"]),
        ("北京烤鸭很好", "烤鸭", ["烤鸭"]),
        ("北京烤鸭很好", "北京烤鸭", ["北京烤鸭"]),
        ("Dossier BL-2024-117, suite", "BL-2024-117", ["BL-2024-117"]),
        ("Dossier BL-2024-117, suite", "2024", ["2024"]),
        ("C++ et C", "C++", ["C++"]),
        ("à 3,14 près", "3.14", ["3,14"]),
        ("un total de 12 000 euros", "12000", ["12 000"]),
        ("il n'est pas parti", "n'est pas", ["pas"]),
        ("𝐄𝐚𝐮 claire 💧 eau", "eau", ["𝐄𝐚𝐮", "eau"]),
        ("rien ici", "navire", []),
        ("", "eau", []),
    ],
)
def test_parts_of_the_original_are_marked(text: str, question: str, parts: list[str]) -> None:
    """The word without its article, whatever form it is written in."""
    assert marked(text, question) == parts


def test_all_wordings_count_and_spans_do_not_overlap() -> None:
    """Parts that several terms stand for are marked once."""
    assert marked("navire BL-2024-117 quai", "navire 2024", "bl-2024-117") == [
        "navire",
        "BL-2024-117",
    ]


def test_each_language_analyses_for_itself() -> None:
    """English endings are those of English texts."""
    assert marked("the deliveries arrive", "delivery", language="en") == ["deliveries"]
    with pytest.raises(ValueError, match="'de'"):
        marked("text", "text", language="de")


# Forms that fold, expand, compose, elide or hold no word.
_FORMS = (
    "l' L’ d’ n' qu' eau EAU cœur coeur e\u0301te\u0301 été ß Straße \ufb01n ŉ İ ½ 12,5 3.14 C++ "
    "BL-2024-117 a.b.c. aujourd'hui don't it's navires livrées livrees 北京 烤鸭 鸭 ｶﾞ 한국 - . "
    "\u200b \u00ad x\u0301\u0302 @ & _ 𝐄 💧"
)
_FRAGMENTS = st.sampled_from([*_FORMS.split(" "), "1 000", " ", "\n", "\u00a0"])
_TEXTS = st.lists(_FRAGMENTS | st.text(max_size=4), max_size=12).map("".join)


@given(text=_TEXTS, question=_TEXTS, language=st.sampled_from(["fr", "en"]))
def test_every_marked_part_gives_a_term_of_the_question(
    text: str, question: str, language: str
) -> None:
    """Spans lie in the text, in order and apart, and each analyses to a term of the question."""
    analyzer = Analyzer(language)
    wanted = set(analyzer.terms(question))
    end_before = 0
    for start, end in Highlighter([question]).spans(text, language):
        assert end_before <= start < end <= len(text)
        assert wanted & set(analyzer.terms(text[start:end]))
        end_before = end


@given(text=_TEXTS, language=st.sampled_from(["fr", "en"]), form=st.sampled_from(["NFC", "NFD"]))
def test_a_text_that_is_its_own_question_is_marked_wherever_it_has_terms(
    text: str, language: str, form: str
) -> None:
    """In any Unicode form every term of it is marked, but for forms that stand for another word."""
    written = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    analyzer = Analyzer(language)
    covered = Highlighter([text]).spans(written, language)
    for token in analyzer.analyze(written):
        alone = token.term in analyzer.terms(written[token.start : token.end])
        wanted = token.term in analyzer.terms(text)
        held = any(start <= token.start and token.end <= end for start, end in covered)
        assert held or not (alone and wanted)
