"""Starting, watching and stopping processes, with small real ones."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from justesse.cli.local_mesh.service_process import ServiceProcess, ending_in_words
from justesse.cli.local_mesh.supervisor import (
    Member,
    MeshEvent,
    MeshStep,
    Patience,
    StartFailedError,
    Supervisor,
)

SMALL_PROCESS = Path(__file__).parents[2] / "fakes" / "small_process.py"


class Scene:
    """Members in a folder, and what is reported of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[MeshEvent] = []
        self.members: dict[str, Member] = {}
        self._reported = asyncio.Event()

    def add(self, name: str, *words: str) -> None:
        """Adds a member that behaves as the words say."""
        process = ServiceProcess(
            name,
            (sys.executable, "-I", "-S", str(SMALL_PROCESS), name, str(self.folder), *words),
            os.environ,
            self.folder / f"{name}.log",
        )
        self.members[name] = Member(process, lambda: self._wait_for(self.folder / f"{name}.ready"))

    def supervisor(self, *stop_order: str, patience: Patience | None = None) -> Supervisor:
        """Builds the supervisor; members stop one by one in the order given."""
        return Supervisor(
            list(self.members.values()), [[name] for name in stop_order], self._report, patience
        )

    def steps(self, name: str) -> list[MeshStep]:
        """Lists what happened to a member."""
        return [event.step for event in self.events if event.service == name]

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for reports until the condition holds."""
        while not condition():
            self._reported.clear()
            await self._reported.wait()

    def stopped(self) -> list[str]:
        """Lists who stopped politely, in order."""
        file = self.folder / "stopped"
        return file.read_text().split() if file.exists() else []

    def _report(self, event: MeshEvent) -> None:
        self.events.append(event)
        self._reported.set()

    async def _wait_for(self, file: Path) -> None:
        await appearance(file)
        os.unlink(file)


def is_there(file: Path) -> bool:
    """Tells whether a file is there."""
    return file.exists()


async def appearance(file: Path) -> None:
    """Waits until a file is there."""
    for _ in range(2_000):
        if is_there(file):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{file} did not appear")


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    """An empty scene."""
    return Scene(tmp_path)


async def test_members_stop_in_the_order_given(scene: Scene) -> None:
    """Everybody is ready inside the block; afterwards each stops after those that call it."""
    for name in ("store", "door", "reader"):
        scene.add(name)
    async with scene.supervisor("door", "reader", "store").running():
        assert all(member.process.running for member in scene.members.values())
        assert scene.steps("door") == [MeshStep.STARTED, MeshStep.READY]
    assert scene.stopped() == ["door", "reader", "store"]
    assert scene.steps("store") == [MeshStep.STARTED, MeshStep.READY, MeshStep.STOPPED]
    assert not any(member.process.running for member in scene.members.values())


async def test_member_that_fails_at_the_start_stops_all(scene: Scene) -> None:
    """A failed start names the member, its end and its last words; nothing is left running."""
    scene.add("store")
    scene.add("door", "fail")
    supervisor = scene.supervisor("door", "store")
    with pytest.raises(StartFailedError, match="door did not start: exit code 3") as raised:
        async with supervisor.running():
            raise AssertionError("a mesh without its door ran")
    assert raised.value.last_lines == ("door has no settings",)
    assert not scene.members["store"].process.running


async def test_member_that_is_never_ready_stops_all(scene: Scene) -> None:
    """Waiting for a member ends."""
    scene.add("store", "late")
    supervisor = scene.supervisor("store", patience=Patience(start_s=0.3))
    with pytest.raises(StartFailedError, match=r"store did not start: not ready after 0\.3 s"):
        async with supervisor.running():
            raise AssertionError("a mesh without its store ran")
    assert not scene.members["store"].process.running


async def test_member_that_dies_is_started_again(scene: Scene) -> None:
    """A member that is killed comes back as a new process, and both are reported."""
    scene.add("store")
    supervisor = scene.supervisor("store", patience=Patience(first_pause_s=0.01))
    async with supervisor.running():
        process = scene.members["store"].process
        first = process.pid
        os.kill(first, signal.SIGKILL)
        await scene.until(lambda: MeshStep.RECOVERED in scene.steps("store"))
        assert process.running
        assert process.pid != first
    died = next(event for event in scene.events if event.step is MeshStep.DIED)
    assert died.detail == "signal SIGKILL; starting again in 0.01 s"
    assert scene.stopped() == ["store"]


async def test_member_that_keeps_dying_is_given_growing_pauses(scene: Scene) -> None:
    """The pause doubles up to its limit while a member dies at once."""
    scene.add("store")
    patience = Patience(first_pause_s=0.01, longest_pause_s=0.02)
    async with scene.supervisor("store", patience=patience).running():
        for count in (1, 2, 3):
            os.kill(scene.members["store"].process.pid, signal.SIGKILL)
            await scene.until(lambda n=count: scene.steps("store").count(MeshStep.RECOVERED) == n)  # type: ignore[misc]
    pauses = [event.detail.split()[-2] for event in scene.events if event.step is MeshStep.DIED]
    assert pauses == ["0.01", "0.02", "0.02"]


async def test_member_that_does_not_stop_is_killed(scene: Scene) -> None:
    """A stop ends even when a member ignores it."""
    scene.add("store", "deaf")
    async with scene.supervisor("store", patience=Patience(stop_s=0.2)).running():
        pass
    assert scene.steps("store")[-1] is MeshStep.KILLED
    assert not scene.members["store"].process.running


async def test_all_can_be_killed_at_once(scene: Scene) -> None:
    """Who is asked twice does not wait for members that ignore the first."""
    scene.add("store", "deaf")
    supervisor = scene.supervisor("store")
    async with supervisor.running():
        killing = asyncio.create_task(supervisor.kill())
    await killing
    assert not scene.members["store"].process.running


async def test_failure_inside_stops_all(scene: Scene) -> None:
    """Whatever ends the block, no process is left."""
    scene.add("store")
    with pytest.raises(RuntimeError, match="inside"):
        async with scene.supervisor("store").running():
            raise RuntimeError("inside")
    assert scene.stopped() == ["store"]


async def test_last_lines_are_those_of_the_last_start(scene: Scene) -> None:
    """What an earlier run wrote into the same log is not shown as the reason of this one."""
    scene.add("door", "fail")
    process = scene.members["door"].process
    process.log_file.write_text("yesterday's news\n")
    await process.start()
    assert await process.wait() == 3
    assert process.last_lines(5) == ["door has no settings"]


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (78, "exit code 78"), (-9, "signal SIGKILL")]
)
def test_ends_are_put_into_words(code: int, words: str) -> None:
    """Exit codes and signals are told apart."""
    assert ending_in_words(code) == words


PARENT = """
import asyncio, os, sys
from pathlib import Path
from justesse.cli.local_mesh.service_process import ServiceProcess

async def main():
    small, folder = sys.argv[1:]
    process = ServiceProcess(
        "child", (sys.executable, "-I", "-S", small, "child", folder), os.environ,
        Path(folder) / "child.log",
    )
    await process.start()
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ties processes to their parent")
async def test_members_do_not_outlive_a_killed_supervisor(scene: Scene) -> None:
    """A supervisor that is killed leaves no process behind."""
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, str(SMALL_PROCESS), str(scene.folder))
    )
    await appearance(scene.folder / "child.ready")
    parent.kill()
    await parent.wait()
    await appearance(scene.folder / "stopped")
