// The status bar: the running turn, pending hunks, and a button that cancels the turn.

import * as vscode from 'vscode';
import type { ProgressToken } from 'vscode-languageclient/node';
import { setContext } from './contextKeys';
import type { Hunks } from './hunks';
import type { Work } from './server';
import { count, inOneLine } from './text';

/** The progress message of a turn that has asked something; in a chat no diagnostic shows it. */
const WAITING = 'waiting for your answer';

interface Running {
  title: string;
  message: string;
  canBeCancelled: boolean;
}

export class Status implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly stop: vscode.StatusBarItem;
  private readonly running = new Map<ProgressToken, Running>();
  private isStarting = true;
  private problem: string | undefined;

  constructor(private readonly hunks: Hunks) {
    this.item = vscode.window.createStatusBarItem('stet.status', vscode.StatusBarAlignment.Left, 1);
    this.item.name = 'Stet';
    this.stop = vscode.window.createStatusBarItem('stet.cancel', vscode.StatusBarAlignment.Left, 0.9);
    this.stop.name = 'Stet: Cancel Turn';
    this.stop.text = '$(debug-stop) Cancel';
    this.stop.command = 'stet.ui.cancel';
    hunks.onDidChange(() => this.show());
    this.show();
    this.item.show();
  }

  /** The server runs, or why it doesn't; without a reason it is about to. */
  state(runs: boolean, why?: string): void {
    this.isStarting = !runs && why === undefined;
    this.problem = why;
    if (!runs) this.running.clear();
    this.show();
  }

  progress(token: ProgressToken, work: Work): void {
    if (work.kind === 'end') this.running.delete(token);
    else {
      const before = this.running.get(token);
      this.running.set(token, {
        title: work.kind === 'begin' ? work.title : (before?.title ?? 'Stet'),
        message: work.message ?? before?.message ?? '',
        canBeCancelled: work.kind === 'begin' ? work.cancellable === true : before?.canBeCancelled === true,
      });
    }
    this.show();
  }

  private show(): void {
    const latest = [...this.running.values()].sort((a, b) => Number(a.canBeCancelled) - Number(b.canBeCancelled)).at(-1);
    const turns = [...this.running.values()].some((work) => work.canBeCancelled);
    const { pending, conflicts } = this.hunks;
    const asks = this.hunks.asks || latest?.message === WAITING;
    // Before the text is shown: keys are active when the user sees it.
    setContext({ 'stet.turnRunning': turns, 'stet.hasHunks': pending > 0, 'stet.isAsking': asks });
    const words = [
      pending ? count(pending, 'hunk') : '',
      conflicts ? `$(warning) ${count(conflicts, 'conflict')}` : '',
    ].filter(Boolean);
    const doing = latest && inOneLine(latest.message || latest.title.replace(/^Stet: /, ''), 40);
    if (this.problem) this.item.text = '$(warning) Stet is off';
    else if (this.isStarting) this.item.text = '$(loading~spin) Stet…';
    else if (asks) this.item.text = `$(question) Stet: ${['a question for you', ...words].join(', ')}`;
    else if (doing) this.item.text = `$(loading~spin) Stet: ${[doing, ...words].join(', ')}`;
    else this.item.text = words.length ? `$(diff) Stet: ${words.join(', ')}` : '$(check) Stet';
    const lines = [...this.running.values()].map((work) => `${work.title}: ${work.message}`);
    this.item.tooltip = this.problem ?? [...lines, asks ? 'Click to answer' : 'Click for the menu'].join('\n');
    this.item.command = asks && !this.problem ? 'stet.ui.answer' : 'stet.ui.menu';
    const asking = asks ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.item.backgroundColor = this.problem ? new vscode.ThemeColor('statusBarItem.warningBackground') : asking;
    this.stop.tooltip = lines.join('\n');
    if (turns) this.stop.show();
    else this.stop.hide();
  }

  dispose(): void {
    this.item.dispose();
    this.stop.dispose();
  }
}
