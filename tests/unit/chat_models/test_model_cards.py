"""What models cost and read is data, and an operator's own data comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_models.chat import ChatMessage, ChatRequest, ChatRole, TokenUsage
from chat_models.model_card import FREE, UNKNOWN_CONTEXT_TOKENS, TokenPrice
from chat_models.model_cards import model_cards


def test_known_models_have_prices() -> None:
    """By the longest name that fits; what runs at home is free."""
    cards = model_cards()

    assert cards.card("mistral", "mistral-small-latest").price == TokenPrice(0.10, 0.30)
    assert cards.card("openai", "gpt-4o-mini-2024-07-18").price == TokenPrice(0.15, 0.60)
    assert cards.card("ollama", "qwen3:4b").price == FREE
    assert cards.card("ollama", "qwen3:4b").name == "qwen3:4b"


def test_an_unknown_model_has_no_price() -> None:
    """Not none to pay: it is unknown; and its context is taken to be small."""
    card = model_cards().card("openai", "my-own-model")

    assert card.price is None
    assert card.context_tokens == UNKNOWN_CONTEXT_TOKENS


def test_input_and_output_are_paid_apart() -> None:
    """A million tokens of each at its own price."""
    price = TokenPrice(0.10, 0.30, "EUR")

    assert price.of(TokenUsage(1_000_000, 0)) == pytest.approx(0.10)
    assert price.of(TokenUsage(0, 1_000_000)) == pytest.approx(0.30)
    assert price.of(TokenUsage(2000, 100)) == pytest.approx(0.00023)


def test_an_operators_file_comes_first(tmp_path: Path) -> None:
    """Also where our own table has a longer name; the rest stays ours."""
    file = tmp_path / "models.toml"
    file.write_text(
        '[[model]]\nprovider = "mistral"\nname = "*"\ninput_per_million = 5\n'
        'output_per_million = 6\ncurrency = "EUR"\ncontext_tokens = 32000\n'
    )
    cards = model_cards(file)

    assert cards.card("mistral", "mistral-small-latest").price == TokenPrice(5, 6, "EUR")
    assert cards.card("mistral", "mistral-small-latest").context_tokens == 32000
    assert cards.card("openai", "gpt-4o-mini").price == TokenPrice(0.15, 0.60)


def test_the_longest_name_counts(tmp_path: Path) -> None:
    """Wherever it stands in the file."""
    rows = (("*", 1), ("small*", 2), ("s*", 3))
    file = tmp_path / "models.toml"
    file.write_text(
        "".join(
            f'[[model]]\nprovider = "x"\nname = "{name}"\ninput_per_million = {price}\n'
            f"output_per_million = {price}\n"
            for name, price in rows
        )
    )

    assert model_cards(file).card("x", "small-latest").price == TokenPrice(2, 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[[model", "cannot be read as TOML"),
        ('[[model]]\nprovider = "x"\n', "model.0.name"),
        ('[[model]]\nprovider = "x"\nname = "y"\ninput_per_million = -1\n', "input_per_million"),
        ('[[model]]\nprovider = "x"\nname = "y"\ncurrency = "euro"\n', "currency"),
        ('[[model]]\nprovider = "x"\nname = "y"\nprise = 1\n', "prise"),
        ("[prices]\n", "prices"),
    ],
)
def test_a_file_that_is_wrong_is_told(tmp_path: Path, text: str, told: str) -> None:
    """With its name and the place."""
    file = tmp_path / "models.toml"
    file.write_text(text)

    with pytest.raises(ValueError, match=told) as caught:
        model_cards(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_missing_is_told(tmp_path: Path) -> None:
    """It was named, so it should be there."""
    with pytest.raises(ValueError, match=r"nothing\.toml cannot be read"):
        model_cards(tmp_path / "nothing.toml")


USER = ChatMessage(ChatRole.USER, "x")


@pytest.mark.parametrize(
    ("messages", "cap", "temperature"),
    [
        ((), 1, 0.0),
        ((USER, ChatMessage(ChatRole.ASSISTANT, "y")), 1, 0.0),
        ((USER,), 0, 0.0),
        ((USER,), 1, 1.5),
        ((USER,), 1, -0.1),
    ],
)
def test_requests_that_some_vendor_would_refuse_cannot_be_made(
    messages: tuple[ChatMessage, ...], cap: int, temperature: float
) -> None:
    """An answer must have room, a question must come last, 0 to 1 is what all take."""
    with pytest.raises(ValueError, match=r"message|max_output_tokens|temperature"):
        ChatRequest(messages, cap, temperature)
