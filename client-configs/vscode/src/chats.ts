// Chats: the document in a split, the answer as a preview, both followed while they grow.

import * as vscode from 'vscode';
import { Preview } from './preview';
import type { Server } from './server';
import { beside, isChat } from './where';

export class Chats implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];
  private preview: Preview | undefined;

  constructor(private readonly server: Server) {
    this.subscriptions = [vscode.workspace.onDidChangeTextDocument(({ document }) => follow(document))];
  }

  readonly openChat = async (): Promise<void> => {
    await this.server.run('stet.openChat');
  };

  readonly newChat = async (): Promise<void> => {
    await this.server.run('stet.newChat');
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

  dispose(): void {
    this.preview?.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

/** Scroll to the end of a chat that has grown, while the cursor is there. */
function follow(document: vscode.TextDocument): void {
  if (!isChat(document)) return;
  const end = document.lineCount - 1;
  for (const editor of vscode.window.visibleTextEditors) {
    if (editor.document === document && editor.selection.active.line === end) {
      editor.revealRange(new vscode.Range(end, 0, end, 0), vscode.TextEditorRevealType.Default);
    }
  }
}
