"""What models take and cost on the way to one ranking."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Charge:
    """One answer of a model, of use or not: whose, and what it took.

    `cost` is in units of `currency` (ISO 4217), None where the price is unknown.
    """

    provider: str
    model: str
    input_token_count: int = 0
    output_token_count: int = 0
    cost: float | None = None
    currency: str = ""


@dataclass(slots=True)
class Bill:
    """Adds up charges as they arise, so that a call that fails later has still been paid for.

    `may_pay` says whether there may be charges above zero.
    """

    may_pay: bool = True
    charges: list[Charge] = field(default_factory=list)
    on_charge: Callable[[Charge], None] = lambda _: None

    def add(self, charge: Charge) -> None:
        """Adds a charge."""
        self.charges.append(charge)
        self.on_charge(charge)

    @property
    def input_token_count(self) -> int:
        """Tokens read."""
        return sum(charge.input_token_count for charge in self.charges)

    @property
    def output_token_count(self) -> int:
        """Tokens written."""
        return sum(charge.output_token_count for charge in self.charges)

    @property
    def cost(self) -> float | None:
        """The sum in units of `currency`; None where a price is unknown, or currencies differ."""
        costs = [charge.cost for charge in self.charges]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if self.currency and len(known) == len(costs) else None

    @property
    def currency(self) -> str:
        """The currency of all costs above zero; empty where they differ or there is none."""
        paid = {charge.currency for charge in self.charges if charge.cost}
        free = {charge.currency for charge in self.charges if charge.cost == 0}
        found = paid or free
        return found.pop() if len(found) == 1 else ""
