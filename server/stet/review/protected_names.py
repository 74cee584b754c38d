"""The names that `stet.review.protected` knows, folded; by who obeys them, and unasked.

Whoever adds one asks: does some program do what this file says when a folder is opened, a file loaded
or saved, or something committed, pushed, built or installed? What a person only reads or runs is no
matter of this list, nor is a plain source.
"""

FOLDERS = frozenset(
    {
        # version control and its hooks
        ".git", ".hg", ".svn", ".husky", ".githooks", ".git-hooks", ".lefthook",
        # continuous integration
        ".github", ".gitlab", ".gitea", ".forgejo", ".circleci", ".ci", ".woodpecker", ".buildkite",
        ".teamcity", ".azure-pipelines", ".azuredevops", ".tekton", ".semaphore",
        # editors
        ".vscode", ".vscode-insiders", ".vs", ".idea", ".run", ".fleet", ".zed", ".helix", ".nvim",
        ".vim", ".emacs.d", ".kak", ".sublime", ".theia", ".settings", ".joyride", ".calva", ".lsp",
        ".clj-kondo", ".bsp", ".ctags.d",
        # machines that are set up when the folder is opened
        ".devcontainer", ".idx", ".codesandbox",
        # agents
        ".claude", ".cursor", ".continue", ".codex", ".gemini", ".cline", ".clinerules", ".roo",
        ".windsurf", ".kiro", ".opencode", ".amazonq", ".junie", ".augment", ".trae", ".qwen",
        ".aider", ".goose", ".agents", ".mcp", ".kilocode", ".openhands", ".factory", ".crush",
        # what package managers and build tools run by themselves
        ".cargo", ".yarn", ".mvn", ".bundle", ".direnv", ".mise",
        # a home folder as the workspace
        ".config", ".local", ".ssh", ".gnupg",
    }
)  # fmt: skip
FOLDER_PATTERNS = ("*.xcodeproj", "*.xcworkspace")

FILES = frozenset(
    {
        # ours
        ".stet.toml", ".stetignore",
        # version control; a bare repository is made of a `HEAD` (and git obeys its `config`)
        ".gitignore", ".gitattributes", ".gitmodules", ".gitconfig", ".hgrc", "head", ".ignore",
        ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "lefthook.yml", "lefthook.yaml", ".gitlint",
        # continuous integration, and what deploys
        ".travis.yml", ".drone.yml", ".woodpecker.yml", ".woodpecker.yaml", ".cirrus.yml",
        ".appveyor.yml", "appveyor.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml",
        "cloudbuild.yaml", "buildspec.yml", "wercker.yml", "circle.yml", "jenkinsfile", "codeowners",
        "action.yml", "action.yaml", ".readthedocs.yml", ".readthedocs.yaml", "renovate.json",
        "renovate.json5", ".renovaterc", ".renovaterc.json", "netlify.toml", "vercel.json", "fly.toml",
        "render.yaml", "amplify.yml", "skaffold.yaml", "tiltfile", "procfile", "vagrantfile",
        # editors, and what they load with a file
        ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", "_vimrc", ".gvimrc", ".lvimrc", ".vimspector.json",
        "coc-settings.json", ".projections.json", ".dir-locals.el", ".dir-locals-2.el", ".emacs",
        ".kakrc", ".editorconfig", ".kateproject", ".project", ".classpath", ".ctags", ".gdbinit",
        ".lldbinit", "launchsettings.json", "omnisharp.json",
        # machines that are set up when the folder is opened
        ".devcontainer.json", ".gitpod.yml", ".gitpod.dockerfile", "devfile.yaml", ".stackblitzrc",
        ".replit", "replit.nix",
        # agents
        "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md",
        "qwen.md", "warp.md", "replit.md", "skill.md", "copilot-instructions.md", ".cursorrules",
        ".cursorignore", ".windsurfrules", ".windsurfignore", ".clinerules", ".clineignore",
        ".roorules", ".rooignore", ".roomodes", ".kilocodemodes", ".continuerules", ".rules",
        ".goosehints", ".augment-guidelines", ".mcp.json", "mcp.json", "opencode.json",
        "opencode.jsonc", "crush.json", ".crush.json",
        # shells, interpreters and their environments
        ".envrc", ".tool-versions", "mise.toml", ".mise.toml", "shell.nix", "flake.nix", "default.nix",
        "flake.lock", ".profile", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout",
        ".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".cshrc", ".tcshrc",
        ".kshrc", ".inputrc", ".tmux.conf", ".screenrc", ".xprofile", ".curlrc", ".wgetrc", ".psqlrc",
        ".sqliterc", ".rprofile", ".irbrc", ".pryrc", ".pdbrc", ".ghci", ".iex.exs",
        # C and C++
        "makefile", "gnumakefile", "makefile.am", "makefile.in", "cmakelists.txt", "cmakepresets.json",
        "cmakeuserpresets.json", "meson.build", "sconstruct", "sconscript", "wscript", "xmake.lua",
        "premake5.lua", "configure", "configure.ac", ".ycm_extra_conf.py", ".clangd", ".clang-tidy",
        ".ccls", "compile_commands.json", "compile_flags.txt", "conanfile.py",
        # Python
        "setup.py", "setup.cfg", "pyproject.toml", "pipfile", "tox.ini", "noxfile.py", "pytest.ini",
        "conftest.py", "sitecustomize.py", "usercustomize.py", ".pylintrc", "pylintrc", "mypy.ini",
        ".mypy.ini", ".flake8", "hatch.toml", "pdm.toml", "poetry.toml", "uv.toml",
        # JavaScript and TypeScript
        "package.json", ".yarnrc", ".yarnrc.yml", "binding.gyp", "pnpm-workspace.yaml", "deno.json",
        "deno.jsonc", "bunfig.toml", "nx.json", "lerna.json", "turbo.json", "angular.json", ".swcrc",
        ".oxlintrc.json", "dprint.json",
        # Rust, Go, Zig, Nim, D
        "cargo.toml", "build.rs", "rust-toolchain", "rust-toolchain.toml", "go.mod", "go.work",
        "magefile.go", "build.zig", "build.zig.zon", "config.nims", "nim.cfg", "dub.json", "dub.sdl",
        # Java, Kotlin, Scala, Clojure
        "pom.xml", "gradlew", "gradlew.bat", "mvnw", "mvnw.cmd", "gradle.properties",
        "gradle-wrapper.properties", "build.sc", "build.mill", ".scalafmt.conf", ".scalafix.conf",
        "project.clj", "deps.edn", "bb.edn", "shadow-cljs.edn",
        # C#, F#
        "global.json", "nuget.config", "packages.config",
        # Ruby, PHP, Perl, Lua
        "gemfile", "gems.rb", "rakefile", ".rubocop.yml", ".rspec", ".solargraph.yml", "brewfile",
        "composer.json", "phpstan.neon", "phpstan.neon.dist", "psalm.xml", "phpunit.xml",
        "phpunit.xml.dist", "rector.php", "makefile.pl", "build.pl", ".perlcriticrc", ".luarc.json",
        ".luarc.jsonc", ".luacheckrc",
        # Elixir, Erlang, Haskell, OCaml
        "mix.exs", ".formatter.exs", ".credo.exs", "rebar.config", "rebar.config.script",
        "cabal.project", "stack.yaml", "package.yaml", "hie.yaml", "setup.hs", "dune", "dune-project",
        "dune-workspace",
        # Swift, Dart
        "package.swift", "podfile", "cartfile", "pubspec.yaml", "analysis_options.yaml", "build.yaml",
        # Bazel and others
        "workspace", "workspace.bazel", "module.bazel", "build", "build.bazel", ".bazelrc", "buck",
        "justfile", ".justfile", "taskfile.yml", "taskfile.yaml", "earthfile", "ansible.cfg",
        # what is installed, line by line, and read by nobody
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
        "cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "pipfile.lock", "gemfile.lock",
        "composer.lock", "go.sum", "go.work.sum", "mix.lock", "pubspec.lock", "packages.lock.json",
        "package.resolved", "podfile.lock", "gradle.lockfile", "deno.lock",
    }
)  # fmt: skip

FILE_PATTERNS = (
    # editors and agents
    "*.code-workspace", "*.sublime-project", "*.sublime-build", ".vim*rc", "*.vimrc", ".aider*",
    # continuous integration, containers
    "*.gitlab-ci.yml", ".gitlab-ci*.yml", "*.jenkinsfile", ".goreleaser.y*ml", "dockerfile",
    "dockerfile.*", "*.dockerfile", "containerfile", "docker-compose*.y*ml", "compose*.y*ml",
    # linters and formatters that editors run, with plugins that are code
    ".eslintrc*", "eslint.config.*", ".prettierrc*", "prettier.config.*", ".stylelintrc*",
    "stylelint.config.*", ".lintstagedrc*", "lint-staged.config.*", ".commitlintrc*",
    "commitlint.config.*", ".markdownlint*", ".textlintrc*", ".remarkrc*", ".cspell*", "cspell*.json",
    "cspell.config.*", ".golangci.*", ".php-cs-fixer*.php",
    # builds and tests that editors run
    "tsconfig*.json", "jsconfig*.json", ".babelrc*", "babel.config.*", "vite.config.*",
    "vitest.config.*", "webpack.config.*", "rollup.config.*", "rspack.config.*", "next.config.*",
    "nuxt.config.*", "svelte.config.*", "astro.config.*", "tailwind.config.*", "postcss.config.*",
    "jest.config.*", ".mocharc*", "karma.conf.*", "playwright.config.*", "cypress.config.*",
    "metro.config.*", "gulpfile*", "gruntfile*", ".releaserc*", "release.config.*", ".pnp.*",
    ".pnpmfile.*",
    # projects and parts of builds, by their endings
    "*.pth", "*.mk", "*.cmake", "*.gradle", "*.gradle.kts", "*.sbt", "*.bzl", "*.sln", "*.slnx",
    "*.slnf", "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.proj", "*.props", "*.targets",
    "*.rsp", "*.gemspec", "*.podspec", "*.cabal", "*.nimble", "*.rockspec", "*.rproj",
)  # fmt: skip
