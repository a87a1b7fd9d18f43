"""How much of a file is read, each limit with its reason. The worker has 1,024 MB and some 150 of it in use."""

LARGEST = 20 * 1024 * 1024
"""Bytes of a file: what Telegram hands over at most, and below what transcription services take (25 MB)."""
LONGEST_TEXT = 2_000_000
"""Characters of its text: half a million tokens, more than most models read, and no load for a store."""

SECONDS = 30
"""For one file. A person waits for it, and whoever sent a hostile one must not keep a worker."""
PDF_SECONDS = 15
"""For the text of a PDF; pages that are not read by then are left out, and the text says so."""
PDF_PAGES = 1_000
"""Whose text is read; two seconds' work, and about where LONGEST_TEXT ends."""

MEMORY = 700 * 1024 * 1024
"""Bytes of address space, all libraries included: what the worker can spare. It ends the reading, not the worker."""
MOST_PIXELS = 100_000_000
"""Of a picture: four bytes each while it is decoded. Phones take pictures of 12 to 50 million, rarely more."""
UNPACKED = 200 * 1024 * 1024
"""Bytes of everything in an Office file, which is a zip file: ten times what can come in. The rest are bombs."""
PART = 40 * 1024 * 1024
"""Bytes of one XML part that is held as a tree, which takes ten times as much; a long novel has five million."""

LONG_SIDE = 1_568
"""Pixels: larger pictures the provider makes smaller itself before the model sees them."""
LARGEST_PICTURE = 3_500_000
"""Bytes: 5 MB of base64 is the most a request may hold of one, and a request may hold several."""
