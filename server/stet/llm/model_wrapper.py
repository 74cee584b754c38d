"""A model around another one: what it does not change, it passes on."""

from stet.llm.model import Model


class ModelWrapper:
    """All of a `Model` but `complete`, which is what wrapping one is about.

    Args:
        inner: The model that is asked.
    """

    def __init__(self, inner: Model) -> None:
        self.inner = inner

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    @property
    def provider(self) -> str:
        """The inner model's."""
        return self.inner.provider

    @property
    def constrained(self) -> bool:
        """The inner model's."""
        return self.inner.constrained

    @property
    def context_tokens(self) -> int | None:
        """The inner model's."""
        return self.inner.context_tokens

    async def warm(self) -> None:
        """Warm the inner model."""
        await self.inner.warm()

    async def close(self) -> None:
        """Close the inner model."""
        await self.inner.close()
