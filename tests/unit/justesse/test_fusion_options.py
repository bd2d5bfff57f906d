"""Fusion settings in the client and on the command line."""

from justesse.client import Fusion, Justesse
from justesse.gateway.v1 import workspaces_pb2
from tests.fakes.command_line import CommandLine

CHOSEN = workspaces_pb2.FusionSettings(
    rank_constant=30, lexical_weight=0, space_weights={"a=b/c": 2.5}
)
OPTIONS = ("--rank-constant", "30", "--lexical-weight", "0", "--space-weight", "a=b/c=2.5")


def test_a_workspace_is_changed_and_shown(line: CommandLine) -> None:
    """What is named is sent, nothing else; the answer and the description say what counts."""
    told = line.run("workspaces", "update", "demo", *OPTIONS).stdout

    assert line.state.updates == [workspaces_pb2.UpdateWorkspaceRequest(slug="demo", fusion=CHOSEN)]
    assert told == "Workspace demo fuses with k 30, bm25 0, a=b/c 2.5.\n"
    assert "k 30, bm25 0, a=b/c 2.5" in line.run("workspaces", "describe", "demo").stdout
    line.run("workspaces", "update", "demo", "--reset-fusion")
    assert line.state.updates[1].reset_fusion


def test_what_changes_nothing_or_is_no_weight_is_refused(line: CommandLine) -> None:
    """Before anything is sent."""
    assert "nothing to change" in line.error("workspaces", "update", "demo", code=2)
    for weight in ("s", "s=x", "=1"):
        message = line.error("workspaces", "update", "demo", "--space-weight", weight, code=2)
        assert f"{weight!r} is not SPACE=WEIGHT" in message
    assert line.state.updates == []


def test_a_search_is_fused_as_asked(line: CommandLine) -> None:
    """By the command's options as by the client's; without any, nothing is sent."""
    line.run("search", "eau", "-w", "demo", *OPTIONS)
    line.run("search", "eau", "-w", "demo")
    with Justesse(line.address) as justesse:
        justesse.search("demo", "eau", fusion=Fusion(30, 0, space_weights={"a=b/c": 2.5}))
        changed = justesse.update_workspace("demo", fusion=Fusion(dense_weight=0.5))

    assert [search.fusion for search in line.state.searches] == [
        CHOSEN,
        workspaces_pb2.FusionSettings(),
        CHOSEN,
    ]
    assert changed.settings.fusion == Fusion(dense_weight=0.5)
