// The user's cursor: the server is informed a moment after the last movement.

import * as vscode from 'vscode';
import { setContext } from './contextKeys';
import type { Server } from './server';

const AFTER = 100;

/** Whether Stet serves a document. */
export function isServed(document: vscode.TextDocument): boolean {
  return document.uri.scheme === 'file' || document.uri.scheme === 'untitled';
}

/** Whether a document is a chat. */
export function isChat(document: vscode.TextDocument): boolean {
  return isChatUri(document.uri);
}

export function isChatUri(uri: vscode.Uri): boolean {
  return uri.scheme === 'file' && /[/\\]stet[/\\]chat-[0-9a-f]+-[\w-]+\.md$/.test(uri.fsPath);
}

/** The column beside the focused one: another that is there already, else a new one. */
export function beside(): vscode.ViewColumn {
  const { all, activeTabGroup } = vscode.window.tabGroups;
  return all.filter((group) => group !== activeTabGroup).at(-1)?.viewColumn ?? vscode.ViewColumn.Beside;
}

export class Where implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(() => this.focus()),
      vscode.window.onDidChangeTextEditorSelection(() => this.soon()),
      vscode.window.onDidChangeTextEditorVisibleRanges(() => this.soon()),
    ];
  }

  /** Report which document has the focus. */
  focus(): void {
    const editor = vscode.window.activeTextEditor;
    setContext({ 'stet.inChat': editor !== undefined && isChat(editor.document) });
    if (editor && !isServed(editor.document)) return;
    const uri = editor && this.server.uriOf(editor.document.uri);
    this.server.notify('$/stet/didFocus', uri ? { textDocument: { uri } } : {});
    this.soon();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), AFTER);
  }

  /** Report the selections now. */
  tell(): void {
    clearTimeout(this.timer);
    const editor = vscode.window.activeTextEditor;
    if (!editor || !isServed(editor.document)) return;
    const visible = editor.visibleRanges[0];
    this.server.notify('$/stet/didChangeSelection', {
      textDocument: { uri: this.server.uriOf(editor.document.uri) },
      selections: editor.selections.map(({ anchor, active }) => ({ anchor, active })),
      ...(visible && { visibleRange: { start: visible.start, end: visible.end } }),
    });
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
