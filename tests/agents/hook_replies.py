"""What hooks reply to Claude Code and to Codex, which read the same form."""

REDIRECT = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"$redirected": "tool_input"},
    }
}
DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Taken as a proposal: hunk 7.",
    }
}


def context(event: str) -> dict[str, object]:
    """Make the reply of a hook that adds a line to what the model is sent."""
    line = f"Context of {event}."
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": line}}
