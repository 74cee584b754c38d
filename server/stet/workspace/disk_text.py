"""Text from the disk: what is text, and how it is decoded."""

MAX_FILE_BYTES = 1_000_000
"""Files larger than this are not shown, searched or listed; open documents may be larger."""
SNIFFED_BYTES = 8192
"""How much of a file is looked at to tell text from other data, as git does."""

_BINARY_ENDINGS = (
    *(".7z", ".bz2", ".gz", ".jar", ".rar", ".tar", ".tgz", ".xz", ".zip", ".zst"),
    *(".avi", ".bmp", ".flac", ".gif", ".ico", ".jpeg", ".jpg", ".mkv", ".mov", ".mp3", ".mp4"),
    *(".ogg", ".png", ".psd", ".tif", ".tiff", ".wav", ".webm", ".webp", ".eot", ".otf", ".ttf"),
    *(".woff", ".woff2", ".doc", ".docx", ".odt", ".pdf", ".pptx", ".xlsx", ".sqlite", ".sqlite3"),
    *(".a", ".bin", ".class", ".dll", ".dylib", ".exe", ".lib", ".o", ".obj", ".pyc", ".so"),
    ".wasm",
)


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file show that it is no text: a NUL among them."""
    return b"\0" in head[:SNIFFED_BYTES]


def has_binary_ending(name: str) -> bool:
    """Return whether a file name alone says that there is no text inside, so that it need not be
    opened.
    """
    return name.lower().endswith(_BINARY_ENDINGS)


def decode(data: bytes) -> str:
    """Decode `data` as UTF-8, without its byte order mark, as editors load text.

    What is not UTF-8 is read as Latin-1, which never fails and keeps every byte apart.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
