// Chats: the document in a split, the answer as a preview, both followed while they grow.

import * as vscode from 'vscode';
import { Preview } from './preview';
import type { Server } from './server';
import { ago, count, inOneLine } from './text';
import { beside, isChat } from './where';

/** One entry of the answer of `stet.chats`. */
interface Chat {
  chat: string;
  title: string;
  updated: string | null;
  turns: number;
}

export class Chats implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private preview: Preview | undefined;
  /** The editors of chats in which the cursor is at the end. */
  private readonly atEnd = new WeakSet<vscode.TextEditor>();

  constructor(private readonly server: Server) {
    this.subscriptions = [
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.follow(document)),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => this.cursorMoved(textEditor)),
    ];
  }

  readonly openChat = async (): Promise<void> => {
    await this.server.run('stet.openChat');
  };

  readonly newChat = async (): Promise<void> => {
    await this.server.run('stet.newChat');
  };

  /** Open one of all chats, picked from a list by its title. */
  readonly listChats = async (): Promise<void> => {
    const found = await this.server.run<Chat[]>('stet.chats');
    if (!found) return;
    const items = found.map(({ chat, title, updated, turns }) => ({
      label: inOneLine(title, 80) || '(no title)',
      description: [count(turns, 'turn'), updated ? ago(new Date(updated), new Date()) : ''].filter(Boolean).join(', '),
      chat,
    }));
    const placeHolder = items.length ? 'Select a chat to open' : 'No chats yet';
    const chosen = await vscode.window.showQuickPick([...items, { label: '$(add) New Chat', chat: '' }], {
      title: 'Stet: Chats', placeHolder, matchOnDescription: true,
    });
    if (!chosen) return;
    if (chosen.chat) await this.server.run('stet.openChat', { chat: chosen.chat });
    else await this.newChat();
  };

  /** Send what is written in the chat that has the focus, or in the latest. */
  readonly send = async (): Promise<void> => {
    const document = vscode.window.activeTextEditor?.document;
    const chat = document && isChat(document) ? { uri: this.server.uriOf(document.uri) } : undefined;
    await this.server.run('stet.send', chat);
  };

  /** Show a chat: with the focus as a document to write in, without as a preview that is read. */
  async show(uri: vscode.Uri, takeFocus: boolean): Promise<void> {
    if (takeFocus) return this.edit(uri);
    const isVisible = vscode.window.visibleTextEditors.some(({ document }) => document.uri.toString() === uri.toString());
    if (isVisible) return;
    if (this.preview?.uri.toString() === uri.toString()) return;
    this.preview?.dispose();
    const preview = new Preview(uri, () => void this.edit(uri));
    preview.onDidDispose(() => {
      if (this.preview === preview) this.preview = undefined;
    });
    this.preview = preview;
  }

  /** Open the document at its end: in its own editor if there is one, in place of its preview, else beside. */
  private async edit(uri: vscode.Uri): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    const tab = vscode.window.tabGroups.all.find(({ tabs }) =>
      tabs.some(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString()));
    const isPreviewed = this.preview?.uri.toString() === uri.toString();
    const previewColumn = isPreviewed ? this.preview?.column : undefined;
    const viewColumn = tab?.viewColumn ?? previewColumn ?? beside();
    const end = document.lineAt(document.lineCount - 1).range.end;
    await vscode.window.showTextDocument(document, { viewColumn, preview: false, selection: new vscode.Range(end, end) });
    if (isPreviewed) this.preview?.dispose();
  }

  /** Scroll to the end of a chat that has grown, while the cursor is there; it moves after the text has changed. */
  private follow(document: vscode.TextDocument): void {
    if (!isChat(document)) return;
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document === document && (this.atEnd.has(editor) || isAtEnd(editor))) revealEnd(editor);
    }
  }

  private cursorMoved(editor: vscode.TextEditor): void {
    if (!isChat(editor.document)) return;
    if (!isAtEnd(editor)) this.atEnd.delete(editor);
    else if (this.atEnd.has(editor)) revealEnd(editor);
    else this.atEnd.add(editor);
  }

  dispose(): void {
    this.preview?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

/** Whether the cursor is in the last line. */
function isAtEnd({ document, selection }: vscode.TextEditor): boolean {
  return selection.active.line === document.lineCount - 1;
}

function revealEnd(editor: vscode.TextEditor): void {
  const end = editor.document.lineCount - 1;
  editor.revealRange(new vscode.Range(end, 0, end, 0), vscode.TextEditorRevealType.Default);
}
