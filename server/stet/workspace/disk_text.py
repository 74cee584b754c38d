"""Text files on the disk: detection of text, and decoding."""

MAX_FILE_BYTES = 1_000_000
"""Files larger than this are not shown, searched or listed; open documents may be larger."""
SNIFFED_BYTES = 8192
"""The number of bytes that are read to distinguish text from other data, as in git."""

_BINARY_ENDINGS = (
    *(".7z", ".bz2", ".gz", ".jar", ".rar", ".tar", ".tgz", ".xz", ".zip", ".zst"),
    *(".avi", ".bmp", ".flac", ".gif", ".ico", ".jpeg", ".jpg", ".mkv", ".mov", ".mp3", ".mp4"),
    *(".ogg", ".png", ".psd", ".tif", ".tiff", ".wav", ".webm", ".webp", ".eot", ".otf", ".ttf"),
    *(".woff", ".woff2", ".doc", ".docx", ".odt", ".pdf", ".pptx", ".xlsx", ".sqlite", ".sqlite3"),
    *(".a", ".bin", ".class", ".dll", ".dylib", ".exe", ".lib", ".o", ".obj", ".pyc", ".so"),
    ".wasm",
)


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file contain a NUL, so that the file is no text."""
    return b"\0" in head[:SNIFFED_BYTES]


def has_binary_ending(name: str) -> bool:
    """Return whether a file's name shows that the file contains no text and need not be opened."""
    return name.lower().endswith(_BINARY_ENDINGS)


def decode(data: bytes) -> str:
    """Decode `data` as UTF-8, without its byte order mark, as editors load text.

    Data that is not UTF-8 is decoded as Latin-1, which never fails and keeps every byte distinct.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
