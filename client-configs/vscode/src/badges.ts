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
    const marks = this.hunks.of(uri);
    if (!marks.length) return undefined;
    const conflicts = marks.filter(({ isConflict }) => isConflict).length;
    const tooltip = [count(marks.length, 'pending hunk'), conflicts ? count(conflicts, 'conflict') : ''].filter(Boolean).join(', ');
    const color = new vscode.ThemeColor(conflicts ? 'list.warningForeground' : 'stet.pendingForeground');
    const decoration = new vscode.FileDecoration(badge(marks.length, conflicts > 0), tooltip, color);
    decoration.propagate = true;
    return decoration;
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

/** The number of hunks, and `!` for a conflict: a badge has room for two characters. */
function badge(pending: number, hasConflict: boolean): string {
  if (pending >= 100) return '++';
  return hasConflict && pending < 10 ? `${pending}!` : String(pending);
}
