// Commands that ask, answer, steer and cancel.

import * as vscode from 'vscode';
import { inOneLine } from './text';
import { beside, isChat, isServed, type Where } from './where';
import type { Server } from './server';

type Mode = 'agent' | 'ask' | 'rewrite';

interface Question {
  id: string;
  kind: string;
  text: string;
  choices: string[];
}

interface Turn {
  turn: string;
  question: Question | null;
}

interface Context {
  sections: { name: string; text: string; tokens: number }[];
  tokens: number;
}

export const CONTEXT_SCHEME = 'stet-context';

export class Asking implements vscode.TextDocumentContentProvider {
  private page = '';
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly server: Server, private readonly where: Where) {}

  readonly ask = () => this.prompt('agent', 'Ask or instruct');
  readonly askOnly = () => this.prompt('ask', 'Ask without edits');
  readonly rewrite = async (): Promise<void> => {
    if (vscode.window.activeTextEditor?.selection.isEmpty !== false) {
      void vscode.window.showInformationMessage('Stet: select the text to rewrite first.');
      return;
    }
    await this.prompt('rewrite', 'How should the selection be rewritten?');
  };

  private async prompt(mode: Mode, title: string): Promise<void> {
    const place = here();
    const prompt = await vscode.window.showInputBox({ title: 'Stet', prompt: `${title}${about()}`, ignoreFocusOut: true });
    if (!prompt?.trim()) return;
    this.where.tell();
    await this.server.run('stet.ask', { prompt, mode, ...this.place(place) });
  }

  private place(place: Here | undefined): object {
    return place ? { uri: this.server.uriOf(place.uri), range: place.range } : {};
  }

  readonly sendSelection = async (): Promise<void> => {
    await this.server.run('stet.sendSelection', this.place(here()));
  };

  readonly carryOut = async (): Promise<void> => {
    const place = here();
    if (place) await this.server.run('stet.carryOut', { uri: this.server.uriOf(place.uri), line: place.line + 1 });
  };

  readonly steer = async (): Promise<void> => {
    const prompt = await vscode.window.showInputBox({ title: 'Stet', prompt: 'Message to the running turn', ignoreFocusOut: true });
    if (prompt?.trim()) await this.server.run('stet.steer', { prompt });
  };

  readonly cancel = async (): Promise<void> => {
    await this.server.run('stet.cancel');
  };

  readonly answer = async (): Promise<void> => {
    const question = await this.question();
    if (!question) {
      void vscode.window.showInformationMessage('Stet: there is no question to answer.');
      return;
    }
    const text = await chosen(question);
    if (text?.trim()) await this.server.run('stet.answer', { question: question.id, text });
  };

  private async question(): Promise<Question | null> {
    const status = await this.server.run<{ turns: string[] }>('stet.status');
    for (const turn of status?.turns ?? []) {
      const found = await this.server.run<Turn>('stet.turn', { turn });
      if (found?.question) return found.question;
    }
    return null;
  }

  readonly showContext = async (): Promise<void> => {
    const question = { prompt: '(your question)', ...this.place(here()) };
    const context = await this.server.run<Context>('stet.showContext', question);
    if (!context) return;
    const parts = context.sections.map(({ name, text, tokens }) => `# ${name} (${tokens} tokens)\n\n${text}\n`);
    this.page = [`A question here sends about ${context.tokens} tokens:\n`, ...parts].join('\n');
    const uri = vscode.Uri.from({ scheme: CONTEXT_SCHEME, path: '/Context of a question' });
    this.changed.fire(uri);
    const editor = await vscode.window.showTextDocument(uri, { preview: true, viewColumn: beside() });
    // The user's part comes after the instructions and the tools, which are long and always the same.
    const end = editor.document.lineAt(editor.document.lineCount - 1).range;
    editor.revealRange(end);
  };

  provideTextDocumentContent(): string {
    return this.page;
  }
}

interface Here {
  uri: vscode.Uri;
  range: { start: vscode.Position; end: vscode.Position };
  line: number;
}

/** Where the cursor or the selection is, in a document that can be asked about. */
function here(): Here | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !isServed(editor.document) || isChat(editor.document)) return undefined;
  const { start, end, active } = editor.selection;
  return { uri: editor.document.uri, range: { start, end }, line: active.line };
}

function about(): string {
  const selection = vscode.window.activeTextEditor?.selection;
  if (!selection || selection.isEmpty) return '';
  const lines = selection.end.line - selection.start.line + (selection.end.character > 0 ? 1 : 0);
  return lines > 1 ? ` (${lines} selected lines)` : ' (selection)';
}

async function chosen(question: Question): Promise<string | undefined> {
  const own = 'Other Answer…';
  const inWords = () => vscode.window.showInputBox({ title: 'Stet: Question', prompt: question.text, ignoreFocusOut: true });
  if (!question.choices.length) return inWords();
  const items = question.choices.map((choice) => ({ label: inOneLine(choice, 200), choice }));
  const all = question.kind === 'ask' ? [...items, { label: own, choice: '' }] : items;
  const picked = await vscode.window.showQuickPick(all, {
    title: 'Stet: Question', placeHolder: inOneLine(question.text, 500), ignoreFocusOut: true,
  });
  if (picked?.label === own) return inWords();
  return picked?.choice;
}
