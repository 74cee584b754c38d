// A chat as rendered Markdown, beside the code. It never takes the focus, and follows the answer while its end is in view.

import { watch, type FSWatcher } from 'node:fs';
import { randomBytes } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { beside } from './where';

/** Milliseconds for which changes are collected. */
const AFTER = 100;

export class Preview implements vscode.Disposable {
  readonly onDidDispose: vscode.Event<void>;
  private readonly panel: vscode.WebviewPanel;
  private readonly watcher: FSWatcher;
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private isLoaded = false;
  private isRendered = false;
  private latest = 0;

  /**
   * @param uri The chat document, a file.
   * @param reply Opens the document to write in.
   */
  constructor(readonly uri: vscode.Uri, reply: () => void) {
    const place = { viewColumn: beside(), preserveFocus: true };
    const options = { enableScripts: true, enableFindWidget: true, localResourceRoots: [], retainContextWhenHidden: true };
    this.panel = vscode.window.createWebviewPanel('stet.chat', 'Stet: Chat', place, options);
    this.onDidDispose = this.panel.onDidDispose;
    const name = path.basename(uri.fsPath);
    // The file is replaced as a whole, so its folder is watched.
    this.watcher = watch(path.dirname(uri.fsPath), (_, changed) => {
      if (changed === null || changed === name) this.soon();
    });
    this.subscriptions = [
      this.panel.webview.onDidReceiveMessage((message: unknown) => {
        if (message === 'reply') reply();
        if (message === 'loaded') {
          this.isLoaded = true;
          void this.render();
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (document.uri.toString() === uri.toString()) this.soon();
      }),
      this.panel.onDidDispose(() => this.release()),
    ];
    this.panel.webview.html = page();
  }

  get column(): vscode.ViewColumn | undefined {
    return this.panel.viewColumn;
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.render();
    }, AFTER);
  }

  private async render(): Promise<void> {
    if (!this.isLoaded) return;
    const number = ++this.latest;
    const text = await this.text();
    if (!text) return;
    // VS Code's renderer is an extension that may still have to start.
    if (!this.isRendered) void this.panel.webview.postMessage(plain(text));
    const html = await rendered(text);
    if (number !== this.latest) return;
    this.isRendered = true;
    void this.panel.webview.postMessage(html);
  }

  /** The text in the editor if the document is open there, else that of the file. */
  private async text(): Promise<string> {
    const open = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === this.uri.toString());
    if (open) return open.getText();
    try {
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(this.uri));
    } catch {
      return ''; // It is being replaced; the watcher reports the new one.
    }
  }

  private release(): void {
    clearTimeout(this.timer);
    this.watcher.close();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  dispose(): void {
    this.panel.dispose();
  }
}

/** Markdown as HTML, by VS Code's own renderer. */
async function rendered(text: string): Promise<string> {
  try {
    return await vscode.commands.executeCommand<string>('markdown.api.render', text);
  } catch {
    return plain(text);
  }
}

function plain(text: string): string {
  return `<pre>${text.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>`;
}

/** The page, without content. What a model wrote runs no script, and loads nothing. */
function page(): string {
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; form-action 'none'; base-uri 'none'`;
  return `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Stet: Chat</title>
<style nonce="${nonce}">
body { font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); line-height: 1.5; padding: 0 1.5em 4em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; } h3, h4, h5, h6 { font-size: 1em; }
h1, h2 { border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); padding-bottom: 0.2em; }
code, pre { font-family: var(--vscode-editor-font-family); font-size: var(--vscode-editor-font-size); }
code { color: var(--vscode-textPreformat-foreground); background: var(--vscode-textPreformat-background); padding: 0 0.2em; border-radius: 3px; }
pre { white-space: pre-wrap; background: var(--vscode-textCodeBlock-background); padding: 0.8em; overflow-x: auto; border-radius: 3px; }
pre code { color: inherit; background: none; padding: 0; }
blockquote { margin: 0; padding: 0 1em; border-left: 4px solid var(--vscode-textBlockQuote-border); background: var(--vscode-textBlockQuote-background); }
a { color: var(--vscode-textLink-foreground); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--vscode-widget-border, gray); padding: 0.2em 0.6em; }
summary { cursor: pointer; }
footer { position: fixed; right: 1.5em; bottom: 1em; }
button { font: inherit; color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-button-border, transparent); padding: 0.3em 1em; cursor: pointer; }
</style>
</head>
<body>
<main></main>
<footer><button title="Write in the chat">Reply</button></footer>
<script nonce="${nonce}">
const vscode = acquireVsCodeApi();
const content = document.querySelector('main');
let isAtEnd = true;
addEventListener('scroll', () => {
  isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 40;
});
addEventListener('message', ({ data }) => {
  const open = new Set([...content.querySelectorAll('details[open] > summary')].map((one) => one.textContent));
  content.innerHTML = data;
  for (const one of content.querySelectorAll('details > summary')) one.parentElement.open = open.has(one.textContent);
  if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
});
document.querySelector('button').addEventListener('click', () => vscode.postMessage('reply'));
vscode.postMessage('loaded');
</script>
</body>
</html>`;
}
