"""The chat models of the gateway, from its settings to the end of its process."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from chassis.metrics import Metrics
from chat_models.chat import ChatMessage, ChatRequest, ChatRole
from gateway.answers.readiness import answer_models
from gateway.settings import GatewaySettings
from tests.fakes.chat_vendor import choice
from tests.fakes.vendor import fake_vendor, reply

REQUEST = ChatRequest((ChatMessage(ChatRole.USER, "Un ?"),), max_output_tokens=8)


async def test_no_model_is_asked_unless_named() -> None:
    """Also where a key is there for something else."""
    async with answer_models(GatewaySettings(openai_api_key="sk-1"), Metrics()) as models:  # type: ignore[arg-type]
        assert models is None


async def test_named_models_are_ready_and_closed_at_the_end() -> None:
    """With the limits that the settings say; replicas share the cap."""
    async with fake_vendor(reply({"data": []}), reply(choice("Deux."))) as vendor:
        settings = GatewaySettings(
            chat_models=("openai/m",),
            chat_base_url=f"{vendor.url}/v1",
            answer_idle_s=3.0,
            replicas=2,
        )
        async with answer_models(settings, Metrics()) as models:
            assert models is not None
            await vendor.reached.wait()
            completion = await models.chain.complete(REQUEST)
        await vendor.left()

    assert (completion.text, models.idle_limit_s) == ("Deux.", 3.0)
    assert models.costs.may_pay("negoce")


def test_a_cap_needs_prices() -> None:
    """What has no price cannot be bounded: the start says so."""
    with pytest.raises(ValidationError, match="needs the price"):
        GatewaySettings(
            chat_models=("openai/unheard-of",), chat_base_url="http://x.test", daily_cost_cap=1.0
        )
