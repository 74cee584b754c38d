// Commands that decide on pending hunks, and go from one to the next.

import * as vscode from 'vscode';
import type { Diff } from './diff';
import { type Hunks, innermost, type Mark, type Proposal } from './hunks';
import type { Server } from './server';
import { count, inNotification, inOneLine } from './text';
import { isServed } from './where';

interface Decided {
  hunks: string[];
  refused: { hunk: string; reason: string }[];
}

interface At {
  /** The file: also where the cursor is in its diff. */
  uri: vscode.Uri;
  line: number;
  mark: Mark | undefined;
  /** Whether the cursor is in the proposed side of the diff. */
  isPage: boolean;
}

export class Reviewing {
  /** The way to the next hunk: a decision that is typed fast waits for it. */
  private going: Promise<void> = Promise.resolve();

  constructor(
    private readonly server: Server,
    private readonly hunks: Hunks,
    private readonly diffs: Diff,
  ) {}

  readonly accept = async (): Promise<void> => {
    const mark = await this.markHere();
    if (!mark) return;
    const hunk = (await this.proposals()).find((one) => one.hunk === mark.hunk);
    if (!hunk) return;
    if (hunk.state === 'conflict') return this.resolve();
    const isProtected = hunk.protected && (await this.isSure(hunk));
    if (hunk.protected && !isProtected) return;
    await this.decide('stet.accept', { hunk: hunk.hunk, hash: hunk.hash, ...(isProtected && { protected: true }) });
  };

  private async isSure(hunk: Proposal): Promise<boolean> {
    const accept = 'Accept';
    const detail = 'It can run programs on this machine (a build script, a task, editor or CI settings). Check every line.';
    const options = { modal: true, detail };
    const name = inNotification(hunk.uri.slice(hunk.uri.lastIndexOf('/') + 1));
    return (await vscode.window.showWarningMessage(`${name} is a protected file.`, options, accept)) === accept;
  }

  readonly reject = async (): Promise<void> => {
    const mark = await this.markHere();
    if (!mark) return;
    const prompt = 'Reason (optional). Enter rejects, Escape cancels.';
    const reason = await vscode.window.showInputBox({ title: 'Stet: Reject Hunk', prompt });
    if (reason !== undefined) await this.decide('stet.reject', { hunk: mark.hunk, ...(reason && { reason }) });
  };

  readonly acceptFile = () => this.inFile('stet.accept');
  readonly rejectFile = () => this.inFile('stet.reject');
  readonly acceptTurn = () => this.inTurn('stet.accept');
  readonly rejectTurn = () => this.inTurn('stet.reject');
  readonly acceptAll = () => this.decide('stet.accept', { all: true });
  readonly rejectAll = () => this.decide('stet.reject', { all: true });
  readonly preview = () => this.inFile('stet.preview');

  private async inFile(command: string): Promise<void> {
    const at = this.at();
    if (!at || !this.hunks.of(at.uri).length) return nothing('no pending hunks in this file');
    await this.decide(command, { uri: this.server.uriOf(at.uri) });
  }

  /** All of one turn: that of the hunk here, else the only one, else one that is picked. */
  private async inTurn(command: string): Promise<void> {
    const waiting = (await this.proposals()).filter(({ state }) => state === 'pending' || state === 'conflict');
    if (!waiting.length) return nothing('no pending hunks');
    const mark = this.at()?.mark;
    const turns = [...new Set(waiting.map(({ turn }) => turn))];
    const own = waiting.find(({ hunk }) => hunk === mark?.hunk)?.turn ?? (turns.length === 1 ? turns[0] : undefined);
    const turn = own ?? (await pickTurn(turns, waiting));
    if (turn) await this.decide(command, { turn });
  }

  private async decide(command: string, argument: object): Promise<void> {
    const decided = await this.server.run<Decided>(command, argument);
    const refused = decided?.refused ?? [];
    if (!refused.length) return;
    const reasons = [...new Set(refused.map(({ reason }) => reason))].join('; ');
    void vscode.window.showWarningMessage(inNotification(`Stet: ${count(refused.length, 'hunk')} not changed: ${reasons}`));
  }

  readonly next = () => this.step('stet.next');
  readonly previous = () => this.step('stet.previous');

  private step(command: string): Promise<void> {
    this.going = this.going.then(() => this.go(command)).catch(() => undefined);
    return this.going;
  }

  private async go(command: string): Promise<void> {
    const at = this.at();
    const argument = at && { uri: this.server.uriOf(at.uri), line: at.line + 1 };
    const shown = this.server.nextShown();
    const found = await this.server.run<object | null>(command, argument);
    if (found === null) nothing('no pending hunks');
    if (found) await shown;
  }

  readonly undo = () => this.goBack('stet.undo', ['accepted'], 'no accepted hunk in this file');
  readonly restore = () => this.goBack('stet.restore', ['rejected', 'undone', 'superseded'], 'no rejected or replaced hunk in this file');

  /**
   * Decided hunks have no diagnostics, so the server is asked for those on this line, else in this file.
   * A deleted file can't be opened, so it is offered everywhere.
   */
  private async goBack(command: string, states: string[], otherwise: string): Promise<void> {
    const at = this.at();
    const uri = at && this.server.uriOf(at.uri);
    const decided = (await this.proposals()).filter((one) => states.includes(one.state));
    const inFile = decided.filter((one) => one.uri === uri || one.newUri === uri);
    const onLine = inFile.filter((one) => at && isOn(one, at.line));
    const deleted = decided.filter((one) => one.kind === 'remove' && one.uri !== uri);
    const choices = onLine.length ? onLine : [...inFile, ...deleted];
    if (!choices.length) return nothing(otherwise);
    const chosen = onLine.length === 1 ? onLine[0] : await pickHunk(choices);
    if (chosen) await this.decide(command, { hunk: chosen.hunk });
  }

  readonly resolve = async (): Promise<void> => {
    const mark = await this.markHere();
    if (!mark) return;
    if (!mark.isConflict) return nothing('this hunk has no conflict');
    const ways = [
      { label: '$(account) Keep Yours', description: 'drop the proposal', how: 'mine' },
      { label: '$(arrow-right) Take the Proposal', description: 'replace your text', how: 'theirs' },
      { label: '$(git-compare) Keep Both', description: 'with conflict markers', how: 'markers' },
      { label: '$(refresh) Retry', description: 'propose it again for your text', how: 'retry' },
    ];
    const way = await vscode.window.showQuickPick(ways, { title: 'Stet: Resolve Conflict', placeHolder: 'You edited these lines too' });
    if (!way) return;
    const hunk = (await this.proposals()).find((one) => one.hunk === mark.hunk);
    const asks = hunk?.protected && (way.how === 'theirs' || way.how === 'markers');
    if (asks && !(await this.isSure(hunk))) return;
    await this.server.run('stet.resolve', { hunk: mark.hunk, how: way.how, ...(asks && { protected: true }) });
  };

  readonly diff = async (): Promise<void> => {
    const at = this.at();
    if (at) await this.diffs.show(at.uri);
  };

  readonly review = async (): Promise<void> => {
    await this.server.run('stet.review');
  };

  private async proposals(): Promise<Proposal[]> {
    return (await this.server.run<Proposal[]>('stet.proposals')) ?? [];
  }

  /** The place of the cursor, in a file or in its diff. */
  at(): At | undefined {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return undefined;
    const { document, selection: { active: { line } } } = editor;
    const file = this.diffs.fileOf(document.uri);
    if (file) return { uri: file, line: 0, mark: this.diffs.at(document.uri, line), isPage: true };
    if (!isServed(document)) return undefined;
    return { uri: document.uri, line, mark: this.hunks.at(document.uri, line), isPage: false };
  }

  private async markHere(): Promise<Mark | undefined> {
    await this.going;
    const at = this.at();
    const mark = at && ((await this.markNow(at)) ?? at.mark);
    if (!mark) {
      const next = 'Next Hunk';
      void vscode.window.showInformationMessage('Stet: no hunk on this line.', next).then((chosen) => {
        if (chosen) void this.next();
      });
    }
    return mark;
  }

  /** The hunk on a line of a file as the server knows it: diagnostics lag behind typing. */
  private async markNow({ uri, line, isPage }: At): Promise<Mark | undefined> {
    if (isPage) return undefined;
    const found = (await this.server.run<Proposal[]>('stet.proposals', { uri: this.server.uriOf(uri) })) ?? [];
    const open = found.filter(({ state }) => state === 'pending' || state === 'conflict');
    const here = innermost(open.filter((one) => isOn(one, line)));
    if (!here) return undefined;
    const { start, end } = here.range;
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    return { hunk: here.hunk, range, kind: here.kind, isConflict: here.state === 'conflict' };
  }
}

function isOn({ range: { start, end } }: Proposal, line: number): boolean {
  const past = Math.max(end.character > 0 ? end.line + 1 : end.line, start.line + 1);
  return start.line <= line && line < past;
}

function nothing(what: string): void {
  void vscode.window.showInformationMessage(`Stet: ${what}.`);
}

async function pickHunk(hunks: Proposal[]): Promise<Proposal | undefined> {
  const items = hunks.map((hunk) => ({
    label: inOneLine(hunk.summary, 80),
    description: hunk.kind === 'remove' ? hunk.state : `line ${hunk.range.start.line + 1}, ${hunk.state}`,
    hunk,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Stet', placeHolder: 'Select a hunk' }))?.hunk;
}

async function pickTurn(turns: string[], waiting: Proposal[]): Promise<string | undefined> {
  const items = turns.map((turn) => {
    const own = waiting.filter((hunk) => hunk.turn === turn);
    return { label: inOneLine(own.map(({ summary }) => summary).join(', '), 80), description: count(own.length, 'hunk'), turn };
  });
  return (await vscode.window.showQuickPick(items, { title: 'Stet', placeHolder: 'Select a turn' }))?.turn;
}
