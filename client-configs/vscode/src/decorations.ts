// Hunks drawn into the text: what is removed, what is inserted and where, a sign beside the line.

import * as vscode from 'vscode';
import { drawn, drawnConflict, drawnMove, type DisplayLine, type Drawn, type Ghost } from './display';
import type { Hunks, Proposal } from './hunks';
import type { Server } from './server';
import { visible } from './text';

type Sign = 'change' | 'delete' | 'insert' | 'conflict';

interface Shown extends Proposal {
  display?: { lines: DisplayLine[] };
}

const color = (id: string) => new vscode.ThemeColor(id);

export class Decorations implements vscode.Disposable {
  private readonly removedLine = make({
    isWholeLine: true, backgroundColor: color('diffEditor.removedLineBackground'),
    borderStyle: 'solid', borderWidth: '0 0 0 3px', borderColor: color('stet.removedBorder'),
  });
  private readonly addedLine = make({ isWholeLine: true, backgroundColor: color('diffEditor.insertedLineBackground') });
  private readonly removedSentence = make({ backgroundColor: color('diffEditor.removedLineBackground') });
  private readonly removedWord = make({
    backgroundColor: color('diffEditor.removedTextBackground'),
    border: '1px solid', borderColor: color('stet.removedBorder'), textDecoration: 'line-through',
  });
  private readonly conflictLine = make({ isWholeLine: true, backgroundColor: color('stet.conflictBackground') });
  private readonly ghost = make({});
  private readonly above = make(insertionLine('1px 0 0 0'));
  private readonly below = make(insertionLine('0 0 1px 0'));
  private readonly signs: Record<Sign, vscode.TextEditorDecorationType> = {
    change: sign('M3 10 q2.5 -5 5 -2 t5 -2', '#1b81a8', '#3fb0da', 'editorOverviewRuler.modifiedForeground'),
    delete: sign('M3 8 H13', '#ad0707', '#f4706b', 'editorOverviewRuler.deletedForeground'),
    insert: sign('M8 3 V13 M3 8 H13', '#377d22', '#89d185', 'editorOverviewRuler.addedForeground'),
    conflict: sign('M8 2.5 V9.5 M8 12 V13.5', '#8a5a00', '#e2b340', 'editorOverviewRuler.warningForeground'),
  };
  private readonly types = [
    this.addedLine, this.conflictLine, this.removedLine, this.removedSentence, this.removedWord, this.ghost, this.above, this.below, ...Object.values(this.signs),
  ];
  private readonly subscriptions: vscode.Disposable[];
  private isOn = true;

  /** @param fileOf Finds the file that a page is about which shows it as proposed. */
  constructor(
    private readonly server: Server,
    private readonly hunks: Hunks,
    private readonly fileOf: (page: vscode.Uri) => vscode.Uri | undefined,
  ) {
    this.subscriptions = [
      ...this.types,
      hunks.onDidChange((uri) => void this.refresh(uri)),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) {
          const file = this.fileOf(editor.document.uri);
          if (file) this.drawNewFile(editor, file);
          else void this.refresh(editor.document.uri);
        }
      }),
    ];
  }

  /** Show hunks in the text, or only as signs in the margin. */
  readonly toggle = (): void => {
    this.isOn = !this.isOn;
    for (const editor of vscode.window.visibleTextEditors) void this.refresh(editor.document.uri);
  };

  /** Draw the hunks of a document anew in all its editors. */
  private async refresh(uri: vscode.Uri): Promise<void> {
    const own = () => vscode.window.visibleTextEditors.filter(({ document }) => document.uri.toString() === uri.toString());
    const [editor] = own();
    if (!editor) return;
    const { document } = editor;
    const has = this.hunks.of(uri).length > 0;
    const version = document.version;
    const found = has ? await this.server.query<Shown[]>('stet.proposals', { uri: this.server.uriOf(uri), display: true }) : [];
    // Typed on meanwhile: the positions are of an older text.
    if (document.version !== version) return document.isClosed ? undefined : this.refresh(uri);
    const open = (found ?? []).filter((hunk) => !hunk.inline && (hunk.state === 'pending' || hunk.state === 'conflict'));
    for (const each of own()) this.draw(each, open);
  }

  /** Draw a file that is only proposed; VS Code's diff draws the page of any other. */
  private drawNewFile(editor: vscode.TextEditor, file: vscode.Uri): void {
    if (!this.hunks.of(file).some(({ kind }) => kind === 'create')) return;
    const { document } = editor;
    const last = document.lineCount - 1;
    const count = document.lineAt(last).isEmptyOrWhitespace ? last : last + 1;
    editor.setDecorations(this.addedLine, Array.from({ length: count }, (_, line) => lineRange(line)));
    const end = document.lineAt(0).range.end;
    editor.setDecorations(this.ghost, [{ range: new vscode.Range(end, end), renderOptions: { after: rendered('new file', 'note') } }]);
    editor.setDecorations(this.signs.insert, [lineRange(0)]);
  }

  private draw(editor: vscode.TextEditor, hunks: Shown[]): void {
    const { lineCount } = editor.document;
    const options = new Map<vscode.TextEditorDecorationType, vscode.DecorationOptions[]>(this.types.map((type) => [type, []]));
    const add = (type: vscode.TextEditorDecorationType, range: vscode.Range, more = {}) => options.get(type)?.push({ range, ...more });
    for (const hunk of hunks) {
      if (!hunk.display) continue;
      const { removedLines, removedSentences, removedWords, ghosts, insertions, conflictLines } = drawnFor(hunk, hunk.display.lines, lineCount);
      const removed = [...conflictLines, ...removedLines, ...removedSentences.map(({ line }) => line)];
      const first = Math.min(...removed, ...insertions, ...(removed.length + insertions.length ? [] : [hunk.range.start.line]));
      add(this.signs[signOf(hunk, removed, ghosts.some(({ kind }) => kind !== 'note') || insertions.length > 0)], lineRange(Math.min(first, lineCount - 1)));
      if (!this.isOn) continue;
      for (const line of conflictLines) add(this.conflictLine, lineRange(line));
      for (const line of removedLines) add(this.removedLine, lineRange(line));
      for (const { line, span: [start, end] } of removedSentences) add(this.removedSentence, new vscode.Range(line, start, line, end));
      for (const { line, span: [start, end] } of removedWords) add(this.removedWord, new vscode.Range(line, start, line, end));
      for (const { line, character, text, kind } of ghosts) {
        add(this.ghost, new vscode.Range(line, character, line, character), { renderOptions: { after: rendered(text, kind) } });
      }
      for (const line of insertions) {
        if (line < lineCount) add(this.above, lineRange(line));
        else add(this.below, lineRange(lineCount - 1));
      }
    }
    for (const [type, ranges] of options) editor.setDecorations(type, ranges);
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}

function drawnFor(hunk: Shown, lines: DisplayLine[], lineCount: number): Drawn {
  if (hunk.kind === 'move') return drawnMove(vscode.workspace.asRelativePath(vscode.Uri.parse(hunk.newUri ?? '')));
  return hunk.state === 'conflict' ? drawnConflict(lines, lineCount) : drawn(lines, lineCount);
}

function signOf(hunk: Shown, removed: number[], inserts: boolean): Sign {
  if (hunk.state === 'conflict') return 'conflict';
  if (hunk.kind === 'move') return 'change';
  if (!removed.length) return 'insert';
  return inserts ? 'change' : 'delete';
}

function lineRange(line: number): vscode.Range {
  return new vscode.Range(line, 0, line, 0);
}

function make(options: vscode.DecorationRenderOptions): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType(options);
}

function insertionLine(borderWidth: string): vscode.DecorationRenderOptions {
  return { isWholeLine: true, borderStyle: 'dashed', borderWidth, borderColor: color('stet.insertionLine') };
}

/** The style of drawn text. New words are underlined, so that they are told from removed ones without colours. */
function rendered(text: string, kind: Ghost['kind']): vscode.ThemableDecorationAttachmentRenderOptions {
  // Trailing and leading spaces of drawn text would be dropped.
  const contentText = visible(text).replace(/ /g, '\u00a0');
  if (kind === 'note') return { contentText, color: color('editorCodeLens.foreground'), margin: '0 0 0 2ch' };
  return {
    contentText,
    backgroundColor: color('stet.insertedBackground'),
    border: '1px solid',
    borderColor: color('stet.insertedBorder'),
    color: color('editor.foreground'),
    ...(kind === 'word' ? { textDecoration: 'underline', margin: '0 2px' } : { margin: '0 0 0 2ch' }),
  };
}

/** A sign in the margin and a mark in the overview ruler; its shape tells what it is without colours. */
function sign(path: string, light: string, dark: string, ruler: string): vscode.TextEditorDecorationType {
  const icon = (stroke: string) => vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="${path}" fill="none" stroke="${stroke}" stroke-width="2.2" stroke-linecap="round"/></svg>`,
  ).toString('base64')}`);
  return make({
    gutterIconSize: 'contain',
    light: { gutterIconPath: icon(light) },
    dark: { gutterIconPath: icon(dark) },
    overviewRulerColor: color(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
  });
}
