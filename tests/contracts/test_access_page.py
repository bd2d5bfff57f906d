"""The page on access shows the table of grants as the code has it."""

from __future__ import annotations

from pathlib import Path

from gateway.access.needs import ROUTE_NEEDS, RPC_NEEDS, Need, Reach

PAGE = Path(__file__).resolve().parents[2] / "docs" / "access.md"


def cells_of(need: Need) -> str:
    """Returns the last two cells of a need's line."""
    if need.reach is not Reach.WORKSPACE:
        words = {
            Reach.NOBODY: "no key",
            Reach.ANY_KEY: "any key",
            Reach.EVERYTHING: "installation",
        }
        return f"{words[need.reach]} | –"
    action = f"`{need.action.value}`" if need.action else "any grant"
    return f"{action} | {'refused' if need.whole else 'bound'}"


def test_the_page_shows_every_rpc_and_route() -> None:
    """In the order of the table, with what each needs."""
    rpcs = [f"| `{name.split('.')[-1]}` | {cells_of(n)} |" for name, n in RPC_NEEDS.items()]
    routes = [
        f"| `{method} {path.replace(':path}', '}')}` | {cells_of(n)} |"
        for (method, path), n in ROUTE_NEEDS.items()
    ]
    shown = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]

    assert [line for line in shown if line in {*rpcs, *routes}] == rpcs + routes
