"""Words too frequent to say what a text is about.

The lists are short on purpose. They keep negations (`pas`, `non`, `sans`, `not`, `without`), words
of quantity (`plus`, `moins`, `more`), and words that double as nouns (`été`, and the names IT, US
and WHO in English).
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FRENCH = _words(
    """
    le la les un une des du de d l au aux et ou où à a en y
    ce cet cette ces ça cela
    je j tu il elle on nous vous ils elles me m te t se s lui leur leurs
    mon ma mes ton ta tes son sa ses notre nos votre vos
    que qu qui quoi quel quelle quels quelles dont c
    est es suis sommes êtes etes sont être etre ai as avons avez ont avoir
    dans par pour sur avec si comme car donc mais
    jusqu lorsqu puisqu quoiqu quelqu
    """
)

ENGLISH = _words(
    """
    a an the of in on at to for from by with and or as if
    i you he she we they me my your his her our their them its
    this that these those there
    am is are was were be been being do does did have has had having
    will would shall should can could may might must
    what which whom whose how
    s d ll m re t ve ca wo sha
    """
)
