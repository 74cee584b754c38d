"""The environment variables by which each agent asks a scripted model, with a home of its own.

Agents ask nothing else beside it: updates, telemetry and titles are off where a variable can do so.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_OPENCODE_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")


def claude_variables(home: Path, url: str) -> dict[str, str]:
    """Return those of Claude Code; `url` is the address of the model, without a path."""
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
    }


def copilot_variables(home: Path, url: str, model: str, cache: Path) -> dict[str, str]:
    """Return those of Copilot CLI.

    Args:
        home: Its home folder.
        url: The address of the model, without a path.
        model: The model's name: the tools and the form on the wire depend on it.
        cache: The folder into which it has unpacked itself.
    """
    is_claude = model.startswith("claude")
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "COPILOT_HOME": str(home / ".copilot"),
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": model,
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_PROVIDER_BASE_URL": url if is_claude else f"{url}/v1",
        "COPILOT_PROVIDER_TYPE": "anthropic" if is_claude else "openai",
        **({} if is_claude else {"COPILOT_PROVIDER_WIRE_API": "responses"}),
    }


def gemini_variables(home: Path, url: str) -> dict[str, str]:
    """Return those of Gemini CLI; `url` is the address of the model, without a path."""
    return {"HOME": str(home), "GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": url}


def qwen_variables(home: Path, url: str) -> dict[str, str]:
    """Return those of Qwen Code; `url` is the address of the model, without a path."""
    return {
        "HOME": str(home),
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": "m",
    }


def opencode_variables(
    home: Path,
    url: str,
    models: Sequence[str] = ("m",),
    settings: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Return those of OpenCode.

    npm runs offline: OpenCode waits until it has installed the library of
    plugins, for more than a minute if npm tries to reach its registry in vain.

    Args:
        home: Its home folder.
        url: The address of the model, without a path.
        models: The names of the models; the first one is chosen.
        settings: More settings of the user.
    """
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {name: {"tool_call": True} for name in models},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "provider": {"here": provider},
        "model": f"here/{models[0]}",
        "small_model": f"here/{models[0]}",
        **(settings or {}),
    }
    return {
        "HOME": str(home),
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        **{f"OPENCODE_DISABLE_{what}": "1" for what in _OPENCODE_OFF},
        "npm_config_offline": "true",
    }


def opencode_chat_variables(home: Path, url: str, models: Sequence[str] = ("m",)) -> dict[str, str]:
    """Return those of OpenCode in the chat, which names no session and has its folders in `home`.

    Args:
        home: Its home folder.
        url: The address of the model, without a path.
        models: The names of the models; the first one is chosen.
    """
    folders = {"CONFIG": ".config", "DATA": ".local/share", "CACHE": ".cache"}
    return {
        **opencode_variables(home, url, models, {"agent": {"title": {"disable": True}}}),
        **{f"XDG_{name}_HOME": str(home / path) for name, path in folders.items()},
    }
