"""Agents beside each other on small tasks: Stet, aider and OpenCode with one local model.

`python -m tests.agent_eval --model PATH` runs, `--report` prints the table; `docs/agent-quality.md`
says how it is measured.
"""
