"""Whatever is read as settings, what comes of it is valid: values drawn at random."""

from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from stet.settings.parse import ParsedSettings, parse_settings
from stet.settings.values import PresetSettings
from tests.support.all_settings import ALL

# A busy machine is no reason to fail.
FEW = hypothesis_settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SECTIONS = st.sampled_from(["stet", *ALL, "price", "web", "unknown"])
KEYS = (
    SECTIONS
    | st.sampled_from(
        [key for section in ALL.values() if isinstance(section, dict) for key in section]
    )
    | st.text()
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.just(10**4000)
    | st.just("\udc80"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@FEW
@given(JSON)
def test_any_json_gives_valid_settings(value: object) -> None:
    assert_valid(parse_settings(value))


@FEW
@given(st.dictionaries(SECTIONS, st.dictionaries(KEYS, JSON, max_size=4), max_size=3))
def test_any_values_of_known_keys_give_valid_settings(value: object) -> None:
    assert_valid(parse_settings(value))


def assert_valid(parsed: ParsedSettings) -> None:
    """Settings that go through JSON and come back the same, and readable messages."""
    settings = parsed.settings
    as_json = {
        "model": {
            **{key: getattr(settings.model, snake) for key, snake in MODEL_KEYS.items()},
            "price": {
                "input": settings.model.price.input,
                "cachedInput": settings.model.price.cached_input,
                "output": settings.model.price.output,
            },
        },
        "context": {
            "scope": settings.context.scope,
            "linkDepth": settings.context.link_depth,
            "maxFiles": settings.context.max_files,
            "headLines": settings.context.head_lines,
            "selectionLimit": settings.context.selection_limit,
            "currentFileLines": settings.context.current_file_lines,
            "excludedFolders": settings.context.excluded_folders,
            "presets": {
                one.name: {"files": one.files, "folders": one.folders, **_given(one)}
                for one in settings.context.presets
            },
        },
        "edit": {
            "scope": settings.edit.scope,
            "canAdd": settings.edit.can_add,
            "canDelete": settings.edit.can_delete,
            "canCreate": settings.edit.can_create,
        },
        "agent": {
            "maxIterations": settings.agent.max_iterations,
            "maxTokens": settings.agent.max_tokens,
            "maxSeconds": settings.agent.max_seconds,
            "maxCost": settings.agent.max_cost,
            "historyLength": settings.agent.history_length,
            "disabledTools": settings.agent.disabled_tools,
            "disabledGroups": settings.agent.disabled_groups,
        },
        "web": {
            "provider": settings.web.provider,
            "apiKeyEnv": settings.web.api_key_env,
            "baseUrl": settings.web.base_url,
            "allowHosts": settings.web.allow_hosts,
        },
        "privacy": {"deny": settings.privacy.deny},
        "log": {"level": settings.log.level},
    }
    assert parse_settings(as_json) == ParsedSettings(settings)
    assert all(str(problem).encode() for problem in parsed.problems)


def _given(preset: PresetSettings) -> dict[str, object]:
    """What a preset sets beside files and folders."""
    values = {"scope": preset.scope, "linkDepth": preset.link_depth}
    return {key: value for key, value in values.items() if value is not None}


MODEL_KEYS = {
    "provider": "provider",
    "name": "name",
    "baseUrl": "base_url",
    "apiKeyEnv": "api_key_env",
    "apiVersion": "api_version",
    "temperature": "temperature",
    "maxOutputTokens": "max_output_tokens",
    "toolCalls": "tool_calls",
}
