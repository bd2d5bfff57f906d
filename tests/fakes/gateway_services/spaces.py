"""Two vector spaces of different width."""

from gateway.workspaces import Space

SPACE = Space("fake/model@1/4/l2/none", 4, 3)
OTHER_SPACE = Space("other/model@1/8/l2/none", 8, 1)
