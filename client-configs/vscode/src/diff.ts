// VS Code's own diff of a file: as it is, and with all its pending hunks. A new file is a page of its own.

import * as vscode from 'vscode';
import type { Hunks, Mark, Proposal } from './hunks';
import type { Server } from './server';

const SCHEME = 'stet-proposal';

interface Line {
  first: number;
  last: number;
  hunk: string;
}

export class Diff implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly lines = new Map<string, Line[]>();
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server, private readonly hunks: Hunks) {
    this.subscriptions = [
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      hunks.onDidChange((uri) => this.refresh(uri)),
    ];
  }

  /** Show it. */
  async show(uri: vscode.Uri): Promise<void> {
    const found = await this.shown(uri);
    const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
    if (!found.length) {
      const other = 'Review All as One Diff';
      const chosen = await vscode.window.showInformationMessage(`Stet: no pending hunks in ${name}.`, other);
      if (chosen) await vscode.commands.executeCommand('stet.ui.review');
      return;
    }
    const isNew = found.some((hunk) => hunk.kind === 'create');
    if (isNew) await vscode.window.showTextDocument(proposed(uri), { preview: true });
    else await vscode.commands.executeCommand('vscode.diff', uri, proposed(uri), `${name}: current ↔ proposed`);
  }

  /** Show a file that is only proposed, and say whether it is. VS Code can't open a file that doesn't exist. */
  async showNew(uri: vscode.Uri): Promise<boolean> {
    if (!this.hunks.of(uri).some(({ kind }) => kind === 'create')) return false;
    await this.show(uri);
    return true;
  }

  /** The file that a page of ours is about; undefined for any other document. */
  fileOf(uri: vscode.Uri): vscode.Uri | undefined {
    return uri.scheme === SCHEME && uri.query ? vscode.Uri.parse(uri.query, true) : undefined;
  }

  /** The hunk on a line of the proposed side. */
  at(uri: vscode.Uri, line: number): Mark | undefined {
    const found = this.lines.get(uri.toString())?.find(({ first, last }) => first <= line && line <= last);
    const file = this.fileOf(uri);
    return found && file ? this.hunks.of(file).find((mark) => mark.hunk === found.hunk) : undefined;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const file = this.fileOf(uri);
    if (!file) return '';
    const found = await this.shown(file);
    const made = found.find((hunk) => hunk.kind === 'create');
    if (made) {
      this.lines.set(uri.toString(), [{ first: 0, last: Number.MAX_SAFE_INTEGER, hunk: made.hunk }]);
      return made.new;
    }
    const document = await vscode.workspace.openTextDocument(file);
    const { text, lines } = merged(document, found);
    this.lines.set(uri.toString(), lines);
    return text;
  }

  /** The pending hunks of a file that are changes of lines, without those that the inline style shows in the text. */
  private async shown(uri: vscode.Uri): Promise<Proposal[]> {
    const argument = { uri: this.server.uriOf(uri), state: 'pending' };
    const found = (await this.server.run<Proposal[]>('stet.proposals', argument)) ?? [];
    return found.filter((hunk) => !hunk.inline && hunk.kind !== 'move' && hunk.kind !== 'remove');
  }

  private refresh(uri: vscode.Uri): void {
    const page = proposed(uri);
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) =>
      input instanceof vscode.TabInputTextDiff ? input.modified.toString() === page.toString()
        : input instanceof vscode.TabInputText && input.uri.toString() === page.toString());
    if (!tabs.length) return;
    if (this.hunks.of(uri).length) this.changed.fire(page);
    else void vscode.window.tabGroups.close(tabs);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

function proposed(uri: vscode.Uri): vscode.Uri {
  return uri.with({ scheme: SCHEME, query: uri.toString(), authority: '' });
}

/** The text with all hunks in it, and on which of its lines each of them is. */
function merged(document: vscode.TextDocument, hunks: Proposal[]): { text: string; lines: Line[] } {
  const lines: Line[] = [];
  const text = document.getText();
  let made = '';
  let at = 0;
  for (const hunk of [...hunks].sort((a, b) => a.range.start.line - b.range.start.line)) {
    const { start, end } = hunk.range;
    made += text.slice(at, document.offsetAt(new vscode.Position(start.line, start.character)));
    const first = newlines(made);
    made += hunk.new;
    lines.push({ first, last: Math.max(first, newlines(made) - (hunk.new.endsWith('\n') ? 1 : 0)), hunk: hunk.hunk });
    at = document.offsetAt(new vscode.Position(end.line, end.character));
  }
  return { text: made + text.slice(at), lines };
}

function newlines(text: string): number {
  return text.split('\n').length - 1;
}
