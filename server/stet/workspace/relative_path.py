"""Where a path lies below another."""

from pathlib import PurePath, PureWindowsPath


def parts_below(path: PurePath, base: PurePath) -> tuple[str, ...] | None:
    """Return the names that lead from `base` down to `path`, or None if `path` is not below. There
    are no names if both are equal.

    As `path.relative_to(base).parts`, in a tenth of the time: a question about files asks it hundreds
    of times. Links are not resolved; on Windows case does not count.
    """
    parts, above = path.parts, base.parts
    n_above = len(above)
    is_below = parts[:n_above] == above or (
        isinstance(path, PureWindowsPath) and type(path)(*parts[:n_above]) == base
    )
    return parts[n_above:] if is_below else None
