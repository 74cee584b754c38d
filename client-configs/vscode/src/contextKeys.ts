// Context keys, for the `when` clauses of keys, menus and the palette.

import * as vscode from 'vscode';
import type { Hunks } from './hunks';
import type { Reviewing } from './reviewing';

/** The keys that the extension sets; README.md lists them. */
type Key =
  | 'stet.isRunning' | 'stet.turnRunning' | 'stet.isAsking' | 'stet.inChat'
  | 'stet.hasHunks' | 'stet.hasHunksInFile' | 'stet.onHunk' | 'stet.onConflict';

const known = new Map<Key, boolean>();

/** Set context keys; one that has its value already isn't sent again. */
export function setContext(values: Partial<Record<Key, boolean>>): void {
  for (const [key, value] of Object.entries(values) as [Key, boolean][]) {
    if ((known.get(key) ?? false) === value) continue;
    known.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}

/** Set the context keys about the cursor whenever it or the hunks move. */
export function watchCursor(reviewing: Reviewing, hunks: Hunks): vscode.Disposable {
  const update = () => {
    const at = reviewing.at();
    setContext({
      'stet.hasHunksInFile': at !== undefined && hunks.of(at.uri).length > 0,
      'stet.onHunk': at?.mark !== undefined,
      'stet.onConflict': at?.mark?.isConflict === true,
    });
  };
  return vscode.Disposable.from(
    hunks.onDidChange(update),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.window.onDidChangeTextEditorSelection(update),
  );
}
