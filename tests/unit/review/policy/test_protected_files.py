"""Which names need a yes of their own, however they are spelled."""

import pytest

from stet.review.policy.protected_files import FILES, FOLDERS, is_protected

PROTECTED = (
    "Makefile", "a/MAKEFILE", ".VSCode/x", ".v\u017fcode/x", "M\u0430kefile", "agents.md.",
    # what language servers and editors run when a folder is opened
    "CMakeLists.txt", "Cargo.toml", "rust-toolchain.toml", "src/App.csproj", "Directory.Build.props",
    "mix.exs", "Gemfile", "x.gemspec", "pom.xml", "a/build.gradle.kts", "gradle/wrapper/gradle-wrapper.properties",
    "tsconfig.app.json", ".eslintrc", ".eslintrc.json", "eslint.config.mjs", "vite.config.ts", ".pnp.cjs",
    "go.mod", ".golangci.yml", "pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", ".clang-tidy",
    ".bsp/x.json", "App.xcodeproj/project.pbxproj", "Package.swift", "build.zig", "dune", "hie.yaml",
    "BUILD.bazel", "x.bzl", ".devcontainer.json", ".gitpod.yml", ".idx/dev.nix", ".markdownlint-cli2.cjs",
    "analysis_options.yaml",
    # what builds, deploys and installs
    "Dockerfile", "a/Dockerfile.dev", "compose.yaml", "docker-compose.prod.yml", "Jenkinsfile", "action.yml",
    "package-lock.json", "yarn.lock", "Cargo.lock", "rules.mk", "Rakefile", "netlify.toml", "ci/x.gitlab-ci.yml",
    # agents
    "AGENTS.override.md", "skills/x/SKILL.md", ".roomodes", ".aider.model.settings.yml", ".kilocode/rules/a.md",
    # what only reads like a secret's name
    ".n\u0440mrc", ".\u0430ws/cr\u0435dentials", "\u0456d_rsa",
)  # fmt: skip
PLAIN = (
    "notes.md", "a/b.py", "\u043d\u043e\u0442\u044b.md", "env.py", "", "src/main.rs", "src/app.config.ts",
    "src/build/index.js", "docs/docker.md", "workspace/a.py", "cargo.md", "a.mkd", "src/config.ts",
    "data/config.json", "lib/gulp.js", "test_setup.py", "app.cs", "x.tf", "build/a.c",
)  # fmt: skip


@pytest.mark.parametrize("name", PROTECTED)
def test_protected_file_is_recognised(name: str) -> None:
    assert is_protected(name)


@pytest.mark.parametrize("name", PLAIN)
def test_ordinary_file_is_not_protected(name: str) -> None:
    assert not is_protected(name)


def test_the_names_are_written_as_they_are_compared() -> None:
    assert [name for name in FILES | FOLDERS if name != name.casefold() or "/" in name] == []
