"""What the reranker can be told, and what it says of settings that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from chassis.settings import SettingsError, read_settings
from reranker_svc.endpoints.addresses import base_and_path
from reranker_svc.implementation import Implementation
from reranker_svc.settings import RerankerSettings

PREFIX = "JUSTESSE_RERANKER_"


def settings(**variables: str) -> RerankerSettings:
    """Reads variables; those in capitals bear no prefix."""
    return read_settings(
        RerankerSettings,
        {
            name if name.isupper() else PREFIX + name.upper(): value
            for name, value in variables.items()
        },
    )


def key_of(read: RerankerSettings) -> str | None:
    key = read.key()
    return key.get_secret_value() if key is not None else None


def test_the_formula_is_the_default() -> None:
    """Nothing is to be set, and nothing outside is asked."""
    read = settings()

    assert read.implementations == ("formula",)
    assert read.dialect is None
    assert read.url == ""


def test_a_workspace_may_have_an_order_of_its_own() -> None:
    """The others keep the service's order."""
    read = settings(
        endpoint_kind="tei",
        endpoint_url="http://tei",
        workspace_implementations='{"acme": ["endpoint", "formula"]}',
    )

    assert read.order_of("acme") == (Implementation.ENDPOINT, Implementation.FORMULA)
    assert read.order_of("other") == (Implementation.FORMULA,)


def test_a_hosted_endpoint_needs_its_key_alone() -> None:
    """Address and model are the vendor's own."""
    read = settings(
        implementations="endpoint,formula", endpoint_kind="cohere", COHERE_API_KEY="co-key"
    )

    assert read.url == "https://api.cohere.com"
    assert key_of(read) == "co-key"


def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    """Under the same name with `_FILE`."""
    file = tmp_path / "key"
    file.write_text("file-key\n")

    assert key_of(settings(endpoint_kind="voyage", VOYAGE_API_KEY_FILE=str(file))) == "file-key"
    own = settings(endpoint_kind="tei", endpoint_url="http://tei", endpoint_api_key_file=str(file))
    assert key_of(own) == "file-key"


def test_a_vendors_key_goes_to_no_other_address() -> None:
    """An address of one's own has a key of its own, or none."""
    read = settings(endpoint_kind="jina", endpoint_url="http://proxy:80", JINA_API_KEY="jina-key")

    assert key_of(read) is None
    tei = settings(endpoint_kind="tei", endpoint_url="http://tei", JINA_API_KEY="jina-key")
    assert key_of(tei) is None


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"implementations": "endpoint"}, "JUSTESSE_RERANKER_ENDPOINT_KIND"),
        (
            {"implementations": "endpoint", "endpoint_kind": "tei"},
            "tei needs JUSTESSE_RERANKER_ENDPOINT_URL",
        ),
        (
            {"implementations": "endpoint", "endpoint_kind": "jina"},
            "jina needs JINA_API_KEY or JINA_API_KEY_FILE",
        ),
        ({"implementations": "folder"}, "JUSTESSE_RERANKER_FOLDER_PATH"),
        ({"implementations": "formula,formula"}, "once"),
        ({"workspace_implementations": '{"acme": []}'}, "must name one"),
        ({"workspace_implementations": '{"acme": ["folder"]}'}, "JUSTESSE_RERANKER_FOLDER_PATH"),
        ({"workspace_implementations": "acme"}, "JSON"),
        ({"implementations": "magic"}, "formula"),
        ({"endpoint_url": "ftp://host"}, "an http or https URL"),
        ({"endpoint_kind": "cohere", "COHERE_API_KEY_FILE": "/no/such"}, "COHERE_API_KEY_FILE"),
    ],
)
def test_what_does_not_fit_is_told(variables: dict[str, str], words: str) -> None:
    """In words that name the variable to set."""
    with pytest.raises(SettingsError, match=words):
        settings(**variables)


@pytest.mark.parametrize(
    ("url", "dialect_path", "path"),
    [
        ("http://tei:80", "/rerank", "/rerank"),
        ("http://vllm:8000/v1", "/v1/rerank", "/v1/rerank"),
        ("http://vllm:8000", "/v1/rerank", "/v1/rerank"),
        ("http://vllm:8000/v2/rerank", "/v1/rerank", "/v2/rerank"),
        ("http://llama:8080/reranking", "/v1/rerank", "/reranking"),
        ("http://proxy/models/v1", "/v1/rerank", "/models/v1/rerank"),
        ("http://proxy/models", "/rerank", "/models/rerank"),
    ],
)
def test_an_address_may_hold_the_path_or_not(url: str, dialect_path: str, path: str) -> None:
    """Servers differ in it, and so do their operators."""
    base, found = base_and_path(url, dialect_path)

    assert url.startswith(base)
    assert base.count("/") == 2
    assert found == path
