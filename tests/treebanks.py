"""Where the treebanks are; tests that read them are skipped where they are not."""

import pytest

from treebanks.files import folder

TREEBANKS = folder()
needs_treebanks = pytest.mark.skipif(not TREEBANKS.is_dir(), reason=f"{TREEBANKS} absent; set D2C_TREEBANKS")
