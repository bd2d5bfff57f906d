"""Sets the switches of a mesh for a configuration, and back."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from justesse.client import AsyncJustesse


@asynccontextmanager
async def switches_set(justesse: AsyncJustesse, values: Mapping[str, str]) -> AsyncIterator[None]:
    """Sets the values while inside, and afterwards those that were in force before."""
    listed = await justesse.describe_switches()
    before = {switch.key: switch.value for switch in listed.switches if switch.key in values}
    try:
        await _set(justesse, values)
        yield
    finally:
        await _set(justesse, before)


async def _set(justesse: AsyncJustesse, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        await justesse.set_switch(key, value)
