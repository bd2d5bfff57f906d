"""The id of a document that was given none."""

from gateway.incoming_files import IncomingFile


def test_a_file_name_is_the_id_with_composed_accents() -> None:
    """The same name from a system that writes accents apart is the same document."""
    assert IncomingFile("w", "re\u0301sume\u0301.md").document_id == "r\u00e9sum\u00e9.md"
    assert IncomingFile("w", "a.md", external_id="e\u0301").document_id == "e\u0301"
