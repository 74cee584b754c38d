// Pending hunks, from the server's diagnostics: a hunk is a diagnostic that carries its id.

import * as vscode from 'vscode';

/** One entry of the answer of `stet.proposals`. */
export interface Proposal {
  hunk: string;
  turn: string;
  uri: string;
  newUri: string | null;
  kind: 'add' | 'replace' | 'delete' | 'create' | 'move' | 'remove';
  state: 'pending' | 'conflict' | 'accepted' | 'rejected' | 'undone' | string;
  range: { start: Place; end: Place };
  old: string;
  new: string;
  summary: string;
  hash: string;
  protected: boolean;
  inline: boolean;
}

interface Place {
  line: number;
  character: number;
}

/** A hunk where it is shown. */
export interface Mark {
  hunk: string;
  range: vscode.Range;
  kind: Proposal['kind'];
  isConflict: boolean;
}

export class Hunks implements vscode.Disposable {
  private readonly marks = new Map<string, Mark[]>();
  private readonly questions = new Set<string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  /** The pending hunks or questions of this file have changed. */
  readonly onDidChange = this.changed.event;

  /** Take what the server says of a file. */
  take(uri: vscode.Uri, found: readonly vscode.Diagnostic[]): void {
    const key = uri.toString();
    const marks = found.flatMap((diagnostic): Mark[] => {
      const { hunk, kind } = (diagnostic as { data?: { hunk?: string; kind?: Proposal['kind'] } }).data ?? {};
      if (!hunk) return [];
      return [{ hunk, range: diagnostic.range, kind: kind ?? 'replace', isConflict: diagnostic.code === 'conflict' }];
    });
    if (marks.length) this.marks.set(key, marks);
    else this.marks.delete(key);
    if (found.some((diagnostic) => diagnostic.code === 'question')) this.questions.add(key);
    else this.questions.delete(key);
    this.changed.fire(uri);
  }

  /** Forget everything: there is no server. */
  clear(): void {
    const known = [...this.marks.keys()];
    this.marks.clear();
    this.questions.clear();
    for (const uri of known) this.changed.fire(vscode.Uri.parse(uri));
  }

  get pending(): number {
    return [...this.marks.values()].reduce((sum, marks) => sum + marks.length, 0);
  }

  get conflicts(): number {
    return [...this.marks.values()].flat().filter((mark) => mark.isConflict).length;
  }

  get asks(): boolean {
    return this.questions.size > 0;
  }

  of(uri: vscode.Uri): readonly Mark[] {
    return this.marks.get(uri.toString()) ?? [];
  }

  /** The hunk on a line; where several share it, as `innermost` chooses. */
  at(uri: vscode.Uri, line: number): Mark | undefined {
    return innermost(this.of(uri).filter(({ range }) => range.start.line <= line && line <= lastLine(range)));
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** Of hunks that share a line, in order of place: the first of those that begin last. The keys then decide in the order of the lenses. */
export function innermost<T extends { range: { start: Place } }>(hunks: readonly T[]): T | undefined {
  const line = Math.max(...hunks.map(({ range }) => range.start.line));
  return hunks.find(({ range }) => range.start.line === line);
}

function lastLine(range: vscode.Range): number {
  const isBefore = range.end.character === 0 && range.end.line > range.start.line;
  return isBefore ? range.end.line - 1 : range.end.line;
}
