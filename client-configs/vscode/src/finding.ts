// Commands about the workspace: search, attachments, dead links.

import * as vscode from 'vscode';
import type { Server } from './server';
import { count, inOneLine } from './text';
import { isServed } from './where';

const AFTER = 200;

interface Found {
  uri: string;
  range: { start: vscode.Position; end: vscode.Position };
  title: string;
  excerpt: string;
  why: string;
}

interface Attached {
  files: string[];
  folders: string[];
  problems: string[];
  presets: { name: string }[];
}

export class Finding {
  constructor(private readonly server: Server) {}

  /** A list of results, searched again while the query is typed. */
  readonly search = (): void => {
    const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { found: Found }>();
    pick.title = 'Stet: Search';
    pick.placeholder = 'A word, a name, or a question such as: where are retries counted';
    pick.matchOnDescription = false;
    let timer: NodeJS.Timeout | undefined;
    let running: vscode.CancellationTokenSource | undefined;
    const ask = async (query: string): Promise<void> => {
      running?.cancel();
      const source = (running = new vscode.CancellationTokenSource());
      pick.busy = true;
      const found = await this.server.run<Found[]>('stet.search', { query }, source.token);
      if (source.token.isCancellationRequested) return;
      pick.busy = false;
      pick.items = (found ?? []).map((one) => ({
        label: inOneLine(one.title, 100),
        description: `${vscode.workspace.asRelativePath(vscode.Uri.parse(one.uri))}:${one.range.start.line + 1}`,
        detail: inOneLine(one.excerpt, 160),
        alwaysShow: true,
        found: one,
      }));
    };
    pick.onDidChangeValue((value) => {
      clearTimeout(timer);
      if (value.trim()) timer = setTimeout(() => void ask(value.trim()), AFTER);
      else pick.items = [];
    });
    pick.onDidAccept(() => {
      const found = pick.selectedItems[0]?.found;
      if (!found) return;
      pick.hide();
      const { start, end } = found.range;
      const selection = new vscode.Range(start.line, start.character, end.line, end.character);
      void vscode.window.showTextDocument(vscode.Uri.parse(found.uri), { selection });
    });
    pick.onDidHide(() => {
      clearTimeout(timer);
      running?.cancel();
      pick.dispose();
    });
    pick.show();
  };

  readonly reindex = async (): Promise<void> => {
    await this.server.run('stet.reindex');
  };

  /** Attach what is selected in the explorer, else the active file. */
  readonly attach = async (uri?: vscode.Uri, chosen?: vscode.Uri[]): Promise<void> => {
    const document = vscode.window.activeTextEditor?.document;
    const uris = chosen ?? (uri ? [uri] : document && isServed(document) ? [document.uri] : []);
    if (!uris.length) return;
    const now = await this.server.run<Attached>('stet.context', { add: uris.map((one) => this.server.uriOf(one)) });
    if (!now) return;
    const said = [...now.problems, `${names(now)} attached`].join('; ');
    void vscode.window.showInformationMessage(`Stet: ${said}.`);
  };

  readonly attached = async (): Promise<void> => {
    const now = await this.server.run<Attached>('stet.context');
    if (!now) return;
    const items = [
      ...[...now.files, ...now.folders].map((name) => ({ label: `$(close) Remove ${inOneLine(name, 120)}`, argument: { remove: name } })),
      ...now.presets.map(({ name }) => ({ label: `$(folder-library) Load ${inOneLine(name, 120)}`, argument: { load: name } })),
      ...(now.files.length + now.folders.length
        ? [{ label: '$(clear-all) Remove All', argument: { clear: true } }, { label: '$(save) Save as a Preset…', argument: {} }]
        : []),
    ];
    const placeHolder = items.length ? `${names(now)} attached` : 'Nothing is attached. Use "Stet: Attach File".';
    const chosen = await vscode.window.showQuickPick(items, { title: 'Stet: Attachments', placeHolder });
    if (!chosen) return;
    if (Object.keys(chosen.argument).length) return void (await this.server.run('stet.context', chosen.argument));
    const save = await vscode.window.showInputBox({ title: 'Stet', prompt: 'Name of the preset' });
    if (save?.trim()) await this.server.run('stet.context', { save });
  };

  readonly deadLinks = async (): Promise<void> => {
    await this.server.run('stet.deadLinks');
  };

  readonly clearDeadLinks = async (): Promise<void> => {
    await this.server.run('stet.deadLinks', { clear: true });
  };
}

function names({ files, folders }: Attached): string {
  const parts = [
    files.length ? count(files.length, 'file') : '',
    folders.length ? count(folders.length, 'folder') : '',
  ].filter(Boolean);
  return parts.join(' and ') || 'Nothing';
}
