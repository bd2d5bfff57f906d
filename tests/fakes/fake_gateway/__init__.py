"""A gateway in memory: real contracts over real sockets, with answers that tests know."""

from tests.fakes.fake_gateway.serving import fake_gateway, fake_gateway_in_thread
from tests.fakes.fake_gateway.state import SPACE, GatewayState

__all__ = ["SPACE", "GatewayState", "fake_gateway", "fake_gateway_in_thread"]
