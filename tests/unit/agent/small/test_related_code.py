"""What a very small model is shown of the files beside that of the question."""

import pytest

from stet.agent.small.block_turn import plan_blocks
from stet.agent.turn import Ask, Mode
from stet.context.context_builder import EditorLocation
from tests.support.agent_harness import make_tool_context
from tests.support.workspaces import make_workspace, uri_at

LONG = "".join(f"def other{n}():\n    return {n}\n\n\n" for n in range(100))
CART = "from pricing import discounted\n\n\ndef total(goods):\n    return discounted(goods)\n"
PRICING = "SHARE = 0.1\n\n\ndef discounted(goods):\n    return goods * SHARE\n"


async def shown(files: dict[str, str], prompt: str) -> list[str]:
    """Return the headings of the files that a question about the first file shows."""
    first = next(iter(files))
    world = make_workspace(files, opened={first: files[first]})
    ctx = make_tool_context(world, asked=first)
    await ctx.reader.read(first.removeprefix("/ws/"))
    place = EditorLocation(uri_at(first), None)
    ask = Ask(prompt=prompt, mode=Mode.AGENT, place=place, chat="main")
    [_, question] = (await plan_blocks(ask, ctx, None)).messages
    heads = [line for line in question.content.splitlines() if line.startswith("The file ")]
    return [head.removeprefix("The file ").removesuffix(":") for head in heads]


@pytest.mark.parametrize(
    ("files", "heads"),
    [
        pytest.param(
            {"cart.py": CART, "pricing.py": PRICING, "tax.py": "def rounded(x):\n    return x\n"},
            ["cart.py", "pricing.py"],
            id="an imported function that is called",
        ),
        pytest.param(
            {"cart.py": CART, "pricing.py": LONG + PRICING},
            ["cart.py", "pricing.py, lines 404 to 405"],
            id="a function of a long file",
        ),
        pytest.param(
            {
                "cart.py": CART,
                "pricing.py": "from share import share\n\n\ndef discounted(x):\n    return share(x)\n",
                "share.py": "from step import step\n\n\ndef share(x):\n    return step(x)\n",
                "step.py": "def step(x):\n    return x\n",
            },
            ["cart.py", "pricing.py", "share.py"],
            id="two imports far, and no more",
        ),
        pytest.param(
            {
                "cart.py": "from cache import Cache\n\nCACHE = Cache()\n\n\n"
                "def total(goods):\n    return CACHE.get(goods)\n",
                "cache.py": "class Cache:\n    def get(self, key):\n        return key\n",
            },
            ["cart.py", "cache.py"],
            id="a method of an imported class",
        ),
        pytest.param(
            {"cart.py": CART, "pricing.py": f'def discounted(x):\n    return "{"x" * 4_000}"\n'},
            ["cart.py"],
            id="a function that is too long",
        ),
        pytest.param(
            {
                "cart.ts": "import { cut } from './pricing';\n\n"
                "export function total(x: number) {\n  return cut(x);\n}\n",
                "pricing.ts": "export function cut(x: number) {\n  return x;\n}\n",
            },
            ["cart.ts", "pricing.ts"],
            id="another language",
        ),
    ],
)
async def test_find_used_shows_imported_definitions(
    files: dict[str, str], heads: list[str]
) -> None:
    named = {f"/ws/{name}": text for name, text in files.items()}
    assert await shown(named, "total() is wrong. Fix it.") == heads


async def test_find_used_shows_no_excluded_file() -> None:
    files = {"/ws/cart.py": CART, "/ws/pricing.py": PRICING, "/ws/.stetignore": "pricing.py\n"}
    assert await shown(files, "total() is wrong. Fix it.") == ["cart.py"]
