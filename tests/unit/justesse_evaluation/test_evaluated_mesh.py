"""What a mesh that is measured is told."""

from pathlib import Path

from justesse.cli.evaluation.meshes import evaluation_environment
from justesse.cli.local_mesh.ports import free_layout
from justesse.cli.local_mesh.services import EMBEDDER, environment_of

FOLDER = "JUSTESSE_EMBEDDER_DATA_FOLDER"


def test_vectors_outlive_the_run_outside_of_it(tmp_path: Path) -> None:
    """In the user's cache, wherever that is, and the embedder is told so."""
    told = evaluation_environment({"XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": "/bin"})
    environment = environment_of(EMBEDDER, free_layout(None, None), tmp_path / "mesh", told)

    assert environment[FOLDER] == str(tmp_path / "cache" / "justesse" / "evaluation")
    assert environment["PATH"] == "/bin"
    assert environment_of(EMBEDDER, free_layout(None, None), tmp_path, {})[FOLDER] == str(
        tmp_path / "embedder"
    )


def test_the_caller_has_the_last_word() -> None:
    """Windows, providers and folders of its own are kept; uploads wait for windows otherwise."""
    own = {FOLDER: "/vectors", "JUSTESSE_EMBEDDER_PROVIDERS": "mistral"}
    told = evaluation_environment(own)

    assert told["JUSTESSE_INGESTION_WINDOWS_FIRST"] == "true"
    assert {name: told[name] for name in own} == own
    assert (
        evaluation_environment({"JUSTESSE_INGESTION_WINDOWS_FIRST": "false"})[
            "JUSTESSE_INGESTION_WINDOWS_FIRST"
        ]
        == "false"
    )
