"""Protected files: files that editors, version control, builds, CI or agents obey.

A proposal for a protected file needs its own approval, never "accept all": an agent that may write
the settings of its own editor has no other limits. A file is protected if a program obeys or runs
the file without asking when a folder is opened, a file is loaded or saved, or something is
committed, pushed, built or installed. (Language servers read builds as soon as a folder is opened.)
Such names are recognised by their form, other names by a list. A name too many costs one question,
a name too few may cost the machine; `tests/names` has examples of both.

The state of version control (`.git`, `.jj`, `CVS`) can't be approved: it is always refused, like
secrets (`stet.workspace.privacy_filter`). A hook or a line of `.git/config` takes effect at the
next `git status` of any editor, no text edit there is ever part of a user's project, and the model
is not shown the content, so it could only guess. Other agents have the same rule (Codex keeps
`.git` read-only even if everything else is writable).

Before you add a name to the list, ask: does some program obey this file when a folder is opened, a
file loaded or saved, or something committed, pushed, built, tested, installed or deployed? Files
that only a person reads or runs are not in this list, nor are plain sources, nor names that are
recognised by their form: with a dot at the start, the suffix of a lock file, and so on.

A list of names can't be complete: there are thousands, and each year brings more. But the names are
alike: hidden by a dot, named `rc`, `config` or `lock`, or like a `Makefile`, in the top folder or
in a folder for hooks. Each function that checks a form takes the parts of a path in the form in
which names are compared (`stet.workspace.names.loosest`).
"""

import re
from fnmatch import translate
from pathlib import PurePosixPath

from stet.text.spoofing import CONFUSABLES, skeleton
from stet.workspace.names import is_version_control, loosest
from stet.workspace.secret_files import is_secret

FOLDERS = frozenset(
    {
        # hooks of version control, scripts of continuous integration
        "githooks", "git-hooks", "ci_scripts", "zuul.d",
        # loaded by editors, builds and documentation tools
        "nbproject", "tuist", "fastlane", "magefiles", "site_scons", "_plugins", "_extensions",
        # installed packages: plugins of linters and language servers are loaded from there
        "node_modules", "bower_components", "site-packages", "dist-packages", "venv",
    }
)  # fmt: skip
FOLDER_PATTERNS = ("*.xcodeproj", "*.xcworkspace", "*.git")

FILES = frozenset(
    {
        # version control; a `HEAD` makes a bare repository (and git obeys its `config`)
        "head", "codeowners", "lefthook.yml", "lefthook.yaml", "lefthook.toml", "lefthook.json",
        "lefthook-local.yml", "lefthook-local.yaml", "prek.toml", "captainhook.json", "grumphp.yml",
        "grumphp.yml.dist", "simple-git-hooks.json", "simple-git-hooks.js", "simple-git-hooks.cjs",
        "rusty-hook.toml", "hk.pkl", "cliff.toml", "dvc.yaml", "overcommit.yml", "pre-commit-config.yaml",
        # continuous integration and deployment
        "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "wercker.yml", "circle.yml",
        "shippable.yml", "bitrise.yml", "codemagic.yaml", "buildkite.yml", "screwdriver.yaml",
        "zuul.yaml", "packit.yaml", "codeship-steps.yml", "codeship-services.yml", "jitpack.yml",
        "action.yml", "action.yaml", "bors.toml", "mergify.yml", "codecov.yml", "codecov.yaml",
        "release-please-config.json", "sonar-project.properties", "qodana.yaml", "qodana.yml",
        "crowdin.yml", "crowdin.yaml", "semgrep.yml", "semgrep.yaml", "trivy.yaml", "goreleaser.yml",
        "goreleaser.yaml", "cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json", "appspec.yml",
        "appspec.yaml", "amplify.yml", "apprunner.yaml", "samconfig.toml", "template.yaml", "cdk.json",
        "cdktf.json", "dockerrun.aws.json", "app.yaml", "app.yml", "cron.yaml", "dispatch.yaml",
        "heroku.yml", "app.json", "manifest.yml", "netlify.toml", "_redirects", "_headers", "vercel.json",
        "now.json", "wrangler.toml", "wrangler.json", "wrangler.jsonc", "fly.toml", "render.yaml",
        "railway.json", "railway.toml", "nixpacks.toml", "railpack.json", "firebase.json",
        "firestore.rules", "storage.rules", "database.rules.json", "serverless.yml", "serverless.yaml",
        "serverless.ts", "serverless.js", "serverless.json", "pulumi.yaml", "pulumi.yml",
        "terragrunt.hcl", "root.hcl", "atlantis.yaml", "docker-bake.hcl", "docker-bake.json",
        "kustomization.yaml", "kustomization.yml", "chart.yaml", "values.yaml", "helmfile.yaml",
        "helmfile.yml", "skaffold.yaml", "tilt_config.json", "garden.yml", "werf.yaml", "okteto.yml",
        "okteto.yaml", "devspace.yaml", "ansible.cfg", "galaxy.yml", "site.yml", "molecule.yml",
        "dagger.json", "captain-definition", "readthedocs.yml", "readthedocs.yaml", "process.json",
        "mprocs.yaml", "process-compose.yaml", "project.toml", "eas.json", "copilot.yml",
        # editors and language servers, and files that they load with another file
        "coc-settings.json", "neoconf.json", "init.el", "early-init.el", "init.vim", "init.lua", "eask",
        "cask", "eldev", "eldev-local", "launchsettings.json", "launch.vs.json", "tasks.vs.json",
        "cppproperties.json", "cmakesettings.json", "omnisharp.json", "pyrightconfig.json",
        "rust-analyzer.toml", "rust-project.json", "hie.yaml", "zls.json", "elvis.config", "steepfile",
        "rbs_collection.yaml", "compile_commands.json", "compile_flags.txt", "texlabroot", "gdbinit",
        "lldbinit", "nb-configuration.xml", "nbactions.xml", "localsettings.yaml", "indentconfig.yaml",
        "_clang-format", "_vale.ini", "cmakelists.txt.user",
        # environments that are set up when the folder is opened
        "devfile.yaml", "devfile.yml", "replit.nix", "devbox.json", "devenv.nix", "devenv.yaml",
        "shell.nix", "flake.nix", "default.nix", "guix.scm", "mise.toml", "mise.local.toml", "pkgx.yaml",
        "pkgx.yml", "environment.yml", "environment.yaml", "pixi.toml", "postbuild", "apt.txt",
        "runtime.txt", "pyvenv.cfg", "rust-toolchain", "rust-toolchain.toml", "sandbox.config.json",
        # agents
        "agents.md", "agents.override.md", "agents.local.md", "agent.md", "claude.md", "claude.local.md",
        "gemini.md", "qwen.md", "crush.md", "crush.local.md", "warp.md", "replit.md", "jules.md",
        "skill.md", "soul.md", "tools.md", "heartbeat.md", "identity.md", "conventions.md",
        "copilot-instructions.md", "best_practices.md", "knowledge.md", "mcp.json", "mcp_config.json",
        "mcp-config.json", "mcp.yaml", "mcp.toml", "claude_desktop_config.json", "opencode.json",
        "opencode.jsonc", "crush.json", "kilo.json", "kilo.jsonc", "gemini-extension.json",
        "qwen-extension.json", "firebender.json", "codebuff.json", "greptile.json", "sweep.yaml",
        "ellipsis.yaml", "ellipsis.yml", "rulesync.jsonc", "gptme.toml",
        # shells, interpreters and their environments
        "config.fish", "config.nu", "env.nu", "rc.xsh", "profile.ps1", "tmux.conf", "startup.jl",
        "rprofile.site", "ipython_config.py", "ipython_kernel_config.py", "zshenv", "zprofile", "zlogin",
        "startup.m", "autoexec.bat", "config.site",
        # C and C++
        "makefile", "gnumakefile", "bsdmakefile", "cmakelists.txt", "cmakepresets.json",
        "cmakeuserpresets.json", "meson.build", "meson_options.txt", "meson.options", "build.ninja",
        "sconstruct", "sconscript", "wscript", "wscript_build", "xmake.lua", "premake4.lua",
        "premake5.lua", "tupfile.lua", "tupfile.ini", "tuprules.tup", "tup.config", "configure",
        "configure.ac", "configure.in", "aclocal.m4", "acinclude.m4", "autogen.sh", "bootstrap", "all.do", "default.do",
        "jamroot", "jamfile", "jamfile.v2", "conanfile.py", "conanfile.txt", "vcpkg.json",
        "vcpkg-configuration.json", "android.bp", "android.mk", "kbuild", "kconfig", "deps",
        "presubmit.py", "pkgbuild", "apkbuild", "snapcraft.yaml", "sdkconfig", "sdkconfig.defaults",
        "idf_component.yml", "kconfig.projbuild", "platformio.ini", "sketch.yaml", "west.yml", "prj.conf",
        # Python
        "setup.py", "setup.cfg", "manifest.in", "pyproject.toml", "tox.ini", "tox.toml", "toxfile.py",
        "noxfile.py", "pytest.ini", "pytest.toml", "conftest.py", "sitecustomize.py", "usercustomize.py",
        "pylintrc.toml", "mypy.ini", "ruff.toml", "ty.toml", "pyrefly.toml", "pytype.cfg", "pytype.toml",
        "bandit.yaml", "bandit.yml", "prospector.yaml", "hatch.toml", "hatch_build.py", "pdm.toml",
        "pdm_build.py", "poetry.toml", "uv.toml", "pip.conf", "pip.ini", "fabfile.py", "dodo.py",
        "locustfile.py", "manage.py", "pelicanconf.py", "publishconf.py", "versioneer.py", "asv.conf.json",
        "alembic.ini", "dbt_project.yml", "packages.yml", "buildout.cfg", "pants.toml", "pants.ci.toml",
        "towncrier.toml", "jupytext.toml", "cz.toml", "cz.json", "cz.yaml", "cog.yaml", "invoke.yaml",
        "fabric.yml", "mkdocs.yml", "mkdocs.yaml", "locust.conf", "cookiecutter.json", "copier.yml",
        "copier.yaml",
        # JavaScript and TypeScript
        "package.json", "binding.gyp", "common.gypi", "pnpm-workspace.yaml", "pnpmfile.js", "deno.json",
        "deno.jsonc", "jsr.json", "import_map.json", "bunfig.toml", "nx.json", "project.json",
        "workspace.json", "lerna.json", "turbo.json", "rush.json", "moon.yml", "angular.json",
        "biome.json", "biome.jsonc", "rome.json", "tslint.json", "dprint.json", "dprint.jsonc",
        "vitest.workspace.ts", "vitest.setup.ts", "jest.setup.js", "jest.setup.ts", "jest-preset.js",
        "jasmine.json", "jasmine.mjs", "mocha.opts", "webpackfile.js", "jakefile.js", "gatsby-node.js",
        "gatsby-node.ts", "gatsby-browser.js", "gatsby-ssr.js", "ember-cli-build.js",
        "config-overrides.js", "sidebars.js", "book.json", "nightwatch.json", "cypress.json",
        "wallaby.js", "nodemon.json", "typedoc.json", "jsdoc.json", "api-extractor.json", "codegen.yml",
        "codegen.ts", "knip.json", "knip.jsonc", "knip.ts", "knexfile.js", "knexfile.ts", "plopfile.js",
        "asconfig.json", "rescript.json", "spago.yaml", "spago.dhall", "packages.dhall", "elm.json",
        "esy.json", "haxelib.json", "instrumentation.ts", "instrumentation.js", "electron-builder.yml",
        "electron-builder.json", "electron-builder.json5", "tauri.toml", "browserslist", "sst.json",
        # Rust, Go, Zig, Nim, D, V, Crystal
        "cargo.toml", "build.rs", "rustfmt.toml", "clippy.toml", "deny.toml", "cross.toml", "trunk.toml",
        "makefile.toml", "bacon.toml", "release.toml", "dist.toml", "dist-workspace.toml", "go.mod",
        "go.work", "modules.txt", "magefile.go", "gopkg.toml", "glide.yaml", "air.toml", "buf.yaml",
        "buf.gen.yaml", "buf.work.yaml", "sqlc.yaml", "sqlc.yml", "sqlc.json", "gqlgen.yml", "build.zig",
        "build.zig.zon", "config.nims", "nim.cfg", "dub.json", "dub.sdl", "dub.selections.json", "v.mod",
        "shard.yml",
        # Java, Kotlin, Scala, Clojure, Android
        "pom.xml", "gradlew", "gradlew.bat", "mvnw", "mvnw.cmd", "gradle.properties", "local.properties",
        "gradle-wrapper.properties", "libs.versions.toml", "verification-metadata.xml", "build.xml",
        "ivy.xml", "ivysettings.xml", "build.properties", "build.sc", "build.mill", "build.mill.yaml",
        "project.scala", "project.clj", "profiles.clj", "deps.edn", "bb.edn", "nbb.edn", "tests.edn",
        "user.clj", "build.clj", "build.boot", "shadow-cljs.edn", "figwheel-main.edn", "lombok.config",
        "checkstyle.xml", "pmd.xml", "detekt.yml", "proguard-rules.pro",
        # C#, F#, PowerShell
        "global.json", "nuget.config", "packages.config", "web.config", "dotnet-tools.json",
        "stylecop.json", "xunit.runner.json", "paket.dependencies", "paket.references", "build.fsx",
        "build.cake", "psscriptanalyzersettings.psd1",
        # Ruby, PHP, Perl, Lua, R, Julia
        "gems.rb", "rakefile.rb", "config.ru", "spec_helper.rb", "rails_helper.rb", "test_helper.rb",
        "policyfile.rb", "metadata.rb", "kitchen.yml", "cucumber.yml", "appraisals", "nanoc.yaml",
        "composer.json", "auth.json", "phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon",
        "phpstan-baseline.neon", "psalm.xml", "psalm.xml.dist", "phpunit.xml", "phpunit.xml.dist",
        "phpunit.dist.xml", "phpcs.xml", "phpcs.xml.dist", "pest.php", "bootstrap.php", "rector.php",
        "ecs.php", "pint.json", "infection.json", "infection.json5", "infection.json.dist", "behat.yml",
        "behat.yaml", "behat.php", "codeception.yml", "deploy.php", "deploy.yaml", "robofile.php",
        "castor.php", "box.json", "box.json.dist", "phing.xml", "php.ini", "artisan", "makefile.pl",
        "build.pl", "cpanfile", "dist.ini", "weaver.ini", "minil.toml", "tidyall.ini", "selene.toml",
        "stylua.toml", "default.project.json", "wally.toml", "aftman.toml", "rokit.toml", "activate.r",
        "_targets.r", "_drake.r", "description", "localpreferences.toml", "juliaproject.toml",
        "artifacts.toml", "make.jl",
        # Elixir, Erlang, Gleam, Haskell, OCaml, Lean, Lisp and others
        "mix.exs", "rebar.config", "rebar.config.script", "sys.config", "vm.args", "relx.config",
        "erlang.mk", "erlang_ls.config", "gleam.toml", "manifest.toml", "cabal.project",
        "cabal.project.local", "stack.yaml", "package.yaml", "setup.hs", "setup.lhs", "fourmolu.yaml",
        "weeder.toml", "hlint.yaml", "dune", "dune-project", "dune-workspace", "opam", "_tags",
        "myocamlbuild.ml", "_oasis", "lakefile.lean", "lakefile.toml", "lean-toolchain",
        "lake-manifest.json", "_coqproject", "pack.toml", "qlfile", "info.rkt", "pack.pl", "alire.toml",
        "fpm.toml", "foundry.toml", "remappings.txt", "scarb.toml", "move.toml", "nargo.toml",
        "anchor.toml", "project.godot", "export_presets.cfg",
        # Swift, Dart
        "package.swift", "project.swift", "workspace.swift", "tuist.swift", "pubspec.yaml",
        "pubspec_overrides.yaml", "analysis_options.yaml", "build.yaml", "dart_test.yaml", "melos.yaml",
        "l10n.yaml",
        # Bazel and others
        "workspace", "workspace.bazel", "workspace.bzlmod", "module.bazel", "build", "build.bazel",
        "buck", "targets", "build.pants", "build.gn", "args.gni", "taskfile.yml", "taskfile.yaml",
        "taskfile.dist.yml", "taskfile.dist.yaml", "book.toml", "hugo.toml", "hugo.yaml", "_config.yml",
        "_quarto.yml", "_extension.yml", "antora.yml", "antora-playbook.yml",
        # lists of packages to install, which nobody reads
        "npm-shrinkwrap.json", "go.sum", "go.work.sum", "package.resolved", "cartfile.resolved",
        "constraints.txt", "requirements.txt", "requirements.in", "cpanfile.snapshot",
    }
)  # fmt: skip

FILE_PATTERNS = (
    # agents
    "agent.*.md", "agents.*.md", "claude.*.md", "gemini.*.md", "copilot.*.md", "*.mdc", "*.instructions.md", "*.prompt.md", "*.chatmode.md", "*.agent.md", "*.hook",
    # editors and debuggers
    "*.code-workspace", "*.sublime-project", "*.sublime-build", "*.sublime-workspace", "*.geany",
    "*.iml", "*.ipr", "*.pro.user", "*-gdb.py", "*-gdb.gdb", "*-gdb.scm",
    # continuous integration, containers, deployment
    "*.gitlab-ci.yml", "azure-pipelines*.yml", "buildspec*.y*ml", "*.gocd.yaml", "*.jenkinsfile",
    "*.dockerfile", "docker-compose*.y*ml", "compose*.y*ml", "docker-bake.*", "pulumi.*.y*ml",
    "*.nomad", "*.nomad.hcl", "*.pkr.hcl", "*.garden.yml", "dangerfile.*", "renovate.json*",
    "wrangler.*", "*tilt*.star",
    # linters, builds and tests that editors run, with plugins that are code
    "cspell*.json", "tsconfig*.json", "jsconfig*.json", "gulpfile*", "gruntfile*", "webpack.*.js",
    "*.conf.js", "*.conf.ts", "*.conf.cjs", "*.conf.mjs", "*.conf.coffee", "*.conf.py",
    "tauri*.conf.json*", "default.*.do",
    "jupyter_*_config.*", "hardhat.*", "*.suite.yml",
    # projects and parts of builds, by their suffixes
    "*.pth", "*.mk", "*.mak", "*.cmake", "*.gradle", "*.gradle.kts", "*.gradle.dcl", "*.sbt", "*.bzl",
    "*.bazelrc", "*.wrap", "*.gni", "*.qbs", "*.pri", "*.xcconfig", "*.sln", "*.slnx", "*.slnf",
    "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.vcxproj.*", "*.proj", "*.props", "*.targets",
    "*.rsp", "*.ruleset", "*.runsettings", "*.pubxml", "*.nuspec", "*.gemspec", "*.gemfile", "*.rake",
    "*.thor", "*.podspec", "*.cabal", "*.nimble", "*.nims", "*.rockspec", "*.rproj", "*.opam",
    "*.agda-lib", "*.ipkg", "*.asd", "*.gpr", "*.smk", "*.hxml", "*.jam", "*.build.ps1", "*.just",
    "makefile.am", "makefile.in", "makefile.*.am", "makefile.*.in", "makefile.inc", "makefile.win",
    "makefile.mak*", "doxyfile.*", "powershell_profile.ps1",
    "*.powershell_profile.ps1", "swift-package*.swift", "package@swift-*.swift",
)  # fmt: skip

PATHS = (
    "bin/activate-hermit", "bin/*.hcl", "bin/rails", "bin/spring", "tools/bazel", "config/*.rb",
    "config/*.exs", "config/deploy.yml", "config/cucumber.yml", "config/checkstyle/*", "config/detekt/*",
    "config/config.ts", "common/config/rush/*", "project/*.sbt", "project/*.scala", "project/*.properties",
    "features/support/*", "cypress/support/*", "sorbet/config", "supabase/config.toml", "alembic/env.py",
    "migrations/env.py", "logseq/config.edn", "logseq/custom.*", "conf.d/*.fish", "binder/start",
    "packages/manifest.json", "molecule/*.yml", "copilot/*.yml", "ci/*.yml", "ci/*.yaml",
    "requirements/*.txt", "requirements/*.in",
)  # fmt: skip
"""Ends of paths, for files with an ambiguous name."""

ROOT_FOLDERS = frozenset({"debian", "gradle", "ci", "snap", "rpm", "bamboo-specs"})
"""Folders that are protected only in a root."""

ROOT_FILES = frozenset(
    {
        "tasks.py", "build.py", "build.js", "build.mjs", "build.ts", "esbuild.js", "esbuild.mjs",
        "make.py", "waf", "run_tests.py", "gen.py",
    }
)  # fmt: skip
"""Names of sources that a program runs only in a root."""


_DATA = r"(?:jsonc?|json5|ya?ml|toml|ini|cfg|conf|hcl|kdl|neon|edn|properties|dhall|pkl|cue)"
_SCRIPT = r"(?:[cm]?[jt]s|py|rb|lua|php|exs?)"
_CONFIGURATION = re.compile(
    rf"""
    .+\.config(?:\..+)?                         # vite.config.ts, nextflow.config
    | .+[-_]config\.(?:{_DATA}|[cm]?[jt]s)      # gatsby-config.js, samconfig_config.toml
    | .{{3,}}config\.(?:{_DATA})                # pyrightconfig.json
    | [^.]{{2,}}(?<!s)rc                        # pylintrc, vimrc; not src
    | [^.]{{4,}}rc\.(?:{_DATA}|{_SCRIPT})       # lighthouserc.js
    | conf\.py
    """,
    re.VERBOSE,
)
_LOCK = re.compile(
    rf"""
    .+\.(?:lock|lockb|lockfile|locked|freeze)   # yarn.lock
    | .+\.lock\.[^.]+                           # packages.lock.json
    | .+[-_]lock\.(?:{_DATA})                   # pnpm-lock.yaml
    | pylock(?:\.[^.]+)?\.toml
    | requirements[-_.][^.]*\.(?:txt|in)
    """,
    re.VERBOSE,
)
_NAMED_FILE = re.compile(
    r"[a-z][a-z0-9_-]*file"
    r"|(?:sconstruct|sconscript|wscript)\.[^.]+"
    r"|(?:docker|container|jenkins|proc|vagrant|just|brew|rake|gem|tilt|earth)file\.[^.]+"
)
"""Names without a suffix that end in `file`: `Makefile`, `Procfile`, `Fastfile`."""
_TOP_LEVEL = re.compile(rf".+\.(?:{_DATA}|xml|nix|star|ron|sdl|jsonnet|jam|pro|pri)(?:\.dist)?")
_DOCUMENT = re.compile(
    r"""
    (?:readme|licen[cs]es?|copying|copyright|authors|contributors|contributing|credits|maintainers
    | changelog|changes|history|news|todo|to-do|install|installation|hacking|thanks|notices?|faq
    | version|versions|bugs|about|patents|legal|unlicense|releases?|roadmap|acknowledge?ments|announce
    | security|support|upgrad(?:e|ing)|porting|links|index|notes|code_of_conduct|problems|ideas)
    (?:[-_].*)?
    """,
    re.VERBOSE,
)
"""Names of documents, which no program obeys."""
_PROGRAM = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""Names of scripts in a root that only a person calls, such as `run_tests`."""
_PLACEHOLDERS = frozenset({".gitkeep", ".keep", ".placeholder", ".empty", ".nojekyll"})
"""Files that exist only to keep their folder."""
_SOURCE_FOLDERS = frozenset({"src", "app", "lib", "components", "client", "frontend", "web"})
_UI_CODE = re.compile(r".+\.(?:[cm]?[jt]sx?|vue|svelte)")
_UI_HOOK = re.compile(r"(?:use[-_a-z].*|index)\.[cm]?[jt]sx?")
_COMPILED = re.compile(
    r".+\.(?:c|cc|cpp|cxx|h|hh|hpp|rs|go|java|kt|cs|swift|pas|f90|rst|adoc|html)"
)


def has_hidden_part(parts: tuple[str, ...]) -> bool:
    """Return whether a part of a path begins with a dot, like many files that programs obey."""
    hidden = [part for part in parts if part.startswith(".")]
    return bool(hidden) and not (hidden == [parts[-1]] and parts[-1] in _PLACEHOLDERS)


def is_hook(parts: tuple[str, ...]) -> bool:
    """Return whether a file is in a folder for hooks; code of a user interface is excluded."""
    for at, part in enumerate(parts[:-1]):
        if part == "hooks" or part.endswith(("-hooks", "_hooks")):
            return not _is_code_called_hook(parts[:at], parts[-1])
    return False


def _is_code_called_hook(above: tuple[str, ...], name: str) -> bool:
    if _COMPILED.fullmatch(name) or _UI_HOOK.fullmatch(name):
        return True
    return _UI_CODE.fullmatch(name) is not None and bool(_SOURCE_FOLDERS.intersection(above))


def is_configuration(parts: tuple[str, ...]) -> bool:
    """Return whether a file has a name like a program's configuration or a lock file."""
    name = parts[-1]
    if name.startswith("app.config.") and _SOURCE_FOLDERS.intersection(parts[:-1]):
        return False  # a source module of Angular
    return any(shape.fullmatch(name) for shape in (_CONFIGURATION, _LOCK, _NAMED_FILE))


def is_top_level(name: str) -> bool:
    """Return whether a file in a root of the workspace has a name of a file that programs obey."""
    if "." not in name:
        return not (_DOCUMENT.fullmatch(name) or _PROGRAM.fullmatch(name))
    return _TOP_LEVEL.fullmatch(name) is not None


_FILE = re.compile("|".join(map(translate, FILE_PATTERNS)))
_FOLDER = re.compile("|".join(map(translate, FOLDER_PATTERNS)))
_PATH = re.compile("|".join(translate(f"*/{path}") for path in PATHS))


def is_protected(name: str, *, at_root: bool = False) -> bool:
    """Return whether `name`, with `/` between its parts, needs its own approval.

    Case, Unicode form, invisible characters, a stream of Windows and dots at the end are folded: on
    some disks `.GIT` and `.git` are one folder. Letters that look the same are folded too, because
    the user can't distinguish them.

    Args:
        name: The displayed name of a file or folder.
        at_root: Whether the name is relative to a root of a project, so that a name of one part is
            in the root.
    """
    plain = tuple(loosest(part) for part in PurePosixPath(name).parts)
    parts = tuple(_normalize_part(part) for part in PurePosixPath(name).parts)
    if not parts:
        return False
    return (
        has_hidden_part(parts)
        or _is_listed(parts)
        or is_configuration(parts)
        or is_hook(parts)
        or (at_root and _is_for_root(parts))
        # The name of a secret is refused before; a name that only looks like one may deceive.
        or (parts != plain and (is_secret(parts) or is_version_control(parts)))
    )


def _normalize_part(part: str) -> str:
    """Return a part of a name in the form in which names are compared."""
    return loosest(skeleton(part)).translate(CONFUSABLES)


def _is_listed(parts: tuple[str, ...]) -> bool:
    return (
        any(part in FOLDERS or _FOLDER.match(part) for part in parts)
        or parts[-1] in FILES
        or _FILE.match(parts[-1]) is not None
        or _PATH.match("/" + "/".join(parts)) is not None
    )


def _is_for_root(parts: tuple[str, ...]) -> bool:
    if len(parts) > 1:
        return parts[0] in ROOT_FOLDERS
    return parts[0] in ROOT_FILES or is_top_level(parts[0])
