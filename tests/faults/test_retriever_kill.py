"""The retriever alone, killed at any moment: nothing acknowledged is lost, nothing comes back."""

import asyncio
import os
import signal
from random import Random

import pytest

from retriever_svc.embedded.failpoints import Failpoint
from tests.fakes.retriever_process import RetrieverProcess
from tests.faults.changes import Author
from tests.faults.comparison import compare
from tests.faults.connection import connected, create_workspace
from tests.faults.ledger import Ledger

pytestmark = [pytest.mark.faults, pytest.mark.timeout(7_200)]

REDUCED_KILLS = 12
SOAK_KILLS = 100
LONGEST_ROUND_S = 2.0


async def test_an_acknowledged_upsert_survives_a_kill(process: RetrieverProcess) -> None:
    """Killed right after the acknowledgement and started again, the same search gives the same
    hits with the same scores."""
    process.start()
    query = ("eau de source", [1, 2, 3])
    async with connected(process) as client:
        await create_workspace(client)
        for number in range(10):
            await client.put(f"doc-{number}", [f"eau numéro {number}"], [[1, number, 2]])
        await client.put("last", ["l'eau de source"], [[1, 2, 3]])
        before = await client.find(*query)
    process.kill()
    process.start()
    async with connected(process) as client:
        after = await client.find(*query)

    assert before.hits[0].document.external_id == "last"
    assert after.hits == before.hits
    assert (after.applied_seq, after.spaces_version) == (before.applied_seq, before.spaces_version)


async def test_no_acknowledged_change_is_lost_and_nothing_comes_back(
    process: RetrieverProcess, ledger: Ledger, soak: bool
) -> None:
    """Round after round, killed at a random time or at a named point: every document is as
    acknowledged, or as it was on its way to be; whole, found by words and by vector, with nothing
    beyond. `JUSTESSE_FAULT_KILLS` sets another count of kills, `JUSTESSE_FAULT_SEED` another
    seed."""
    seed = int(os.environ.get("JUSTESSE_FAULT_SEED", "7"))
    kills = int(os.environ.get("JUSTESSE_FAULT_KILLS", SOAK_KILLS if soak else REDUCED_KILLS))
    random = Random(seed)
    authors = [Author(name, Random(random.random())) for name in "abcd"]
    process.start()
    async with connected(process) as client:
        await create_workspace(client)
    compared, number = 0, 0
    # On a slow machine a round may end before much was acknowledged; then it takes more rounds.
    while number < kills or min(ledger.count("acknowledged") / 5, compared / 10) <= kills:
        number += 1
        await run_until_killed(process, ledger, authors, random)
        process.start()
        async with connected(process) as client:
            compared += await compare(client, ledger, f"seed {seed}, kill {number}")
        for author in authors:
            author.learn(ledger)
    known = sum(author.known for author in authors)
    changes = known + sum(author.new for author in authors)
    acknowledged = ledger.count("acknowledged")
    print(  # noqa: T201 - read in the log of a soak
        f"{number} kills, {changes} changes sent ({known / changes:.0%} to known ids), "
        f"{acknowledged} acknowledged, {compared} passages compared"
    )

    assert known / changes >= 0.65


async def run_until_killed(
    process: RetrieverProcess, ledger: Ledger, authors: list[Author], random: Random
) -> None:
    """Lets all authors write until the process dies, from outside or at a point of its own."""
    at_a_point = random.random() < 0.5
    moment = random.uniform(0.02, 0.6)
    if at_a_point:
        point = random.choice(list(Failpoint))
        process.kill()
        if not process.start_or_end(f"{point}:{random.randint(1, 40)}:kill"):
            assert process.wait(0) == -signal.SIGKILL, process.log
            return
        moment = LONGEST_ROUND_S
    async with connected(process) as client, asyncio.TaskGroup() as group:
        working = [group.create_task(author.work(client, ledger)) for author in authors]
        _, still_working = await asyncio.wait(working, timeout=moment)
        if not still_working:
            # Nothing but the end of the process may stop them.
            assert process.wait(5) == -signal.SIGKILL, process.log
        process.kill()
