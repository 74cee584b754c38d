// A badge with the number of pending hunks on each file in the explorer.

import * as vscode from 'vscode';
import type { Hunks } from './hunks';
import { count } from './text';

export class Badges implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri | undefined>();
  readonly onDidChangeFileDecorations = this.changed.event;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly hunks: Hunks) {
    this.subscriptions = [
      this.changed,
      hunks.onDidChange((uri) => this.changed.fire(uri)),
      vscode.window.registerFileDecorationProvider(this),
    ];
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    const pending = this.hunks.of(uri).length;
    if (!pending) return undefined;
    // A badge has room for two characters.
    const badge = pending < 100 ? String(pending) : '++';
    const decoration = new vscode.FileDecoration(badge, count(pending, 'pending hunk'), new vscode.ThemeColor('stet.pendingForeground'));
    decoration.propagate = true;
    return decoration;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
