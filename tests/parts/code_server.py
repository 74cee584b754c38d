"""VS Code as a web page: the npm package `code-server`, pruned of what no test of ours shows.

Two native modules of it come without a binary and are compiled at install. Nothing is compiled
here: the log is written by a few lines of JavaScript instead, and no process is watched.
"""

import hashlib
import shutil
from functools import cache
from pathlib import Path

from tests.parts.kept import kept
from tests.parts.npm import npm

VERSION = "4.139.1"
VSCODE = "1.139"
"""The VS Code that is in it."""
_PACKAGE = Path("node_modules", "code-server")
_KEPT = frozenset(
    {
        "diff", "json", "markdown-basics", "markdown-language-features", "python", "shellscript",
        "theme-defaults", "theme-seti",
    }
)  # fmt: skip
"""Built-in extensions: those that only describe languages and colours, and the one that renders
Markdown. The others start servers, sign in or look for repositories, and would mix what they show
with what is ours.
"""
_PRUNED = ("@github", "@microsoft/mxc-sdk", "@vscode/windows-process-tree")
"""Modules of an agent of another house, and for another system."""
_SPDLOG = """
const fs = require('fs'), path = require('path');
class Logger {
  constructor(file) { this.file = file; }
  write(level, text) { fs.appendFileSync(this.file, `${new Date().toISOString()} [${level}] ${text}\\n`); }
  clearFormatters() {} setPattern() {} setLevel() {} getLevel() { return 0; } flush() {} drop() {}
}
for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'critical'])
  Logger.prototype[level] = function (text) { this.write(level, text); };
async function create(name, file) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  return new Logger(file);
}
exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
"""
_WATCHDOG = "exports.start = () => {}; exports.exit = (code) => process.exit(code || 0);\n"


@cache
def ensure() -> Path:
    """The script that Node runs as code-server.

    Raises:
        MissingPart: There is no npm, or it can't fetch the package.
    """
    recipe = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]
    folder = kept(f"code-server-{VERSION}-{recipe}", _make)
    return folder / _PACKAGE / "out" / "node" / "entry.js"


def _make(folder: Path) -> None:
    # Its install scripts do little more than these three steps, and compile what is not needed.
    npm(folder, "install", "--omit=dev", f"code-server@{VERSION}", "--prefix", str(folder))
    vscode = folder / _PACKAGE / "lib" / "vscode"
    npm(vscode, "install", "--omit=dev")
    for extension in (vscode / "extensions").iterdir():
        if extension.is_dir() and extension.name not in _KEPT:
            shutil.rmtree(extension)
    for name in _PRUNED:
        shutil.rmtree(vscode / "node_modules" / name, ignore_errors=True)
    for unneeded in vscode.rglob("*.map"):
        unneeded.unlink()
    modules = vscode / "node_modules" / "@vscode"
    (modules / "spdlog" / "index.js").write_text(_SPDLOG)
    (modules / "native-watchdog" / "index.js").write_text(_WATCHDOG)
