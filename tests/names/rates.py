"""How many names of the tables the rules know, and how many ordinary ones they take for such."""

from collections.abc import Callable, Iterable

from stet.review.policy.protected_files import is_protected
from stet.workspace.privacy_filter import PrivacyFilter
from tests.names.tables import Entry
from tests.support.workspaces import make_workspace, uri_at


def privacy() -> PrivacyFilter:
    """The filter of a workspace without settings of its own."""
    return make_workspace({"/ws/a": ""}).snapshot().privacy()


def refused(name: str, filtered: PrivacyFilter) -> str | None:
    """The rule by which a file of this name is neither shown nor changed; None if it is."""
    refusal = filtered.check(uri_at(f"/ws/{name}"))
    return refusal.rule if refusal else None


def asks(name: str, filtered: PrivacyFilter) -> bool:
    """Whether "accept all" leaves a change of the file alone: it is protected, or refused as
    such.
    """
    return is_protected(name, at_root=True) or refused(name, filtered) in ("git", "secret")


def hides(name: str, filtered: PrivacyFilter) -> bool:
    """Whether the file's name is taken for that of a secret."""
    return refused(name, filtered) == "secret"


Rule = Callable[[str, PrivacyFilter], bool]


def missed(entries: Iterable[Entry], rule: Rule) -> list[str]:
    """The names that the rule doesn't know."""
    filtered = privacy()
    return [entry.name for entry in entries if not rule(entry.name, filtered)]


def share(names: Iterable[str], rule: Rule) -> float:
    """Which part of the names the rule takes, of 1."""
    filtered = privacy()
    found = [rule(name, filtered) for name in names]
    return sum(found) / len(found)


def rate(entries: list[Entry], rule: Rule) -> float:
    """Which part of the entries' names the rule knows, of 1."""
    return share((entry.name for entry in entries), rule)
