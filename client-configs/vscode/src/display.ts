// From the lines of a hunk's diff to what is drawn in the text. No VS Code here.

/** A half-open range of columns in UTF-16 units. */
export type Span = readonly [number, number];

/** One line of the diff of a hunk, as `stet.proposals` answers with `display`. */
export interface DisplayLine {
  op: 'context' | 'delete' | 'insert';
  /** 0-based, in the current text; of an insertion the line before which it goes. */
  line: number;
  text: string;
  /** The changed words. */
  spans: Span[];
  /** The changed sentences; of long lines only. */
  excerpt?: Span[];
}

/** Text that is drawn at a place of the document and isn't in it. */
export interface Ghost {
  line: number;
  character: number;
  text: string;
  /** `word`: new words between those of the line; `line`: new text after the line; `note`: a number of lines. */
  kind: 'word' | 'line' | 'note';
}

/** What is drawn for one hunk. */
export interface Drawn {
  removedLines: number[];
  /** The changed sentences of long lines. */
  removedSentences: { line: number; span: Span }[];
  removedWords: { line: number; span: Span }[];
  ghosts: Ghost[];
  /** Lines above which text is inserted; one more than the last line: below it. */
  insertions: number[];
  /** The user's lines that a conflict is about. */
  conflictLines: number[];
}

/** The longest text that is drawn behind a line, and that is drawn between words, in UTF-16 units. */
const LONGEST = 160;
const LONGEST_WORDS = 40;
/** A line with more changes is shown with its whole new line behind it; long lines always word by word. */
const MOST_WORDS = 2;
/** The least number of removed lines whose number is shown: they may not fit into the window. */
const MANY_LINES = 10;

/** Find what is drawn for the lines of one hunk. */
export function drawn(lines: readonly DisplayLine[], lineCount: number): Drawn {
  const result = nothing();
  for (const run of runs(lines)) drawRun(run, lineCount, result);
  return result;
}

/** Find what is drawn for a conflict: the user's lines, which are not removed, and the proposed text. */
export function drawnConflict(lines: readonly DisplayLine[], lineCount: number): Drawn {
  const result = nothing();
  const old = lines.filter(({ op }) => op !== 'insert');
  const inserted = lines.filter(({ op }) => op === 'insert');
  const last = old.at(-1);
  result.conflictLines = old.map(({ line }) => line);
  if (last) result.ghosts.push(after(last, `→ ${inserted.length ? summary(inserted) : '(deleted)'}`));
  else if (inserted[0]) addAbove(inserted, inserted[0].line, lineCount, result);
  return result;
}

/** Find what is drawn for a file that is moved. */
export function drawnMove(name: string): Drawn {
  return { ...nothing(), ghosts: [{ line: 0, character: Number.MAX_SAFE_INTEGER, text: `→ ${name}`, kind: 'line' }] };
}

function nothing(): Drawn {
  return { removedLines: [], removedSentences: [], removedWords: [], ghosts: [], insertions: [], conflictLines: [] };
}

/** The lines without context, as groups of neighbours. */
function runs(lines: readonly DisplayLine[]): DisplayLine[][] {
  const found: DisplayLine[][] = [[]];
  for (const line of lines) {
    if (line.op === 'context') found.push([]);
    else found.at(-1)?.push(line);
  }
  return found.filter((run) => run.length);
}

function drawRun(run: DisplayLine[], lineCount: number, result: Drawn): void {
  const removed = run.filter(({ op }) => op === 'delete');
  const left = run.filter(({ op }) => op === 'insert');
  let last: DisplayLine | undefined;
  let isPaired = false;
  for (const line of removed) {
    if (line.excerpt?.length) for (const span of line.excerpt) result.removedSentences.push({ line: line.line, span });
    else result.removedLines.push(line.line);
    for (const span of line.spans) {
      const word = trimmed(span, line.text);
      if (word && word[1] - word[0] < line.text.trim().length) result.removedWords.push({ line: line.line, span: word });
    }
    const pair = left.findIndex((other) => isPair(line, other));
    // Lines before the partner have no partner of their own: they go above this line.
    const above = pair > 0 ? left.splice(0, pair) : [];
    if (above.length) addAbove(above, line.line, lineCount, result);
    const partner = pair >= 0 ? left.shift() : undefined;
    if (partner) result.ghosts.push(...replaced(line, partner));
    isPaired = partner !== undefined;
    last = line;
  }
  const [first] = removed;
  if (first && removed.length >= MANY_LINES && !result.ghosts.some(({ line }) => line === first.line)) {
    result.ghosts.push({ ...after(first, `-${removed.length} lines`), kind: 'note' });
  }
  if (!left.length) return;
  if (last && !isPaired) result.ghosts.push(after(last, `→ ${summary(left)}`));
  else addAbove(left, last ? last.line + 1 : (left[0] as DisplayLine).line, lineCount, result);
}

function addAbove(lines: DisplayLine[], at: number, lineCount: number, result: Drawn): void {
  result.insertions.push(at);
  const isBelow = at >= lineCount;
  const arrow = isBelow ? '↓' : '↑';
  const text = `${arrow} + ${summary(lines)}`;
  result.ghosts.push({ line: isBelow ? lineCount - 1 : at, character: Number.MAX_SAFE_INTEGER, text, kind: 'line' });
}

/** Whether a removed and an inserted line are the same but for their changed words. */
function isPair(removed: DisplayLine, inserted: DisplayLine): boolean {
  const kept = unchanged(removed);
  return kept.trim() !== '' && kept === unchanged(inserted);
}

function unchanged({ text, spans }: DisplayLine): string {
  let kept = '';
  let at = 0;
  for (const [start, end] of spans) {
    kept += text.slice(at, start);
    at = end;
  }
  return kept + text.slice(at);
}

/** The new words beside the old ones, or the new line after the old one where too much of it is new. */
function replaced(removed: DisplayLine, inserted: DisplayLine): Ghost[] {
  const words = newWords(removed, inserted);
  const isLong = removed.excerpt !== undefined || inserted.excerpt !== undefined;
  const areReadable = words.every(({ text }) => /\w/.test(text)) && words.length <= MOST_WORDS && removed.spans.length <= MOST_WORDS;
  return isLong || areReadable ? words : [after(removed, `→ ${oneLine(inserted)}`)];
}

/** Each new word, at the end of the old word in whose place it goes. */
function newWords(removed: DisplayLine, inserted: DisplayLine): Ghost[] {
  const ghosts: Ghost[] = [];
  let before = 0;
  for (const [start, end] of inserted.spans) {
    const character = columnOf(removed, start - before);
    before += end - start;
    const text = cut(inserted.text.slice(start, end), LONGEST_WORDS);
    if (text.trim()) ghosts.push({ line: removed.line, character, text, kind: 'word' });
  }
  return ghosts;
}

/** The column of a line at which so many unchanged characters lie before, behind a change that is there. */
function columnOf({ spans }: DisplayLine, unchangedBefore: number): number {
  let removed = 0;
  for (const [start, end] of spans) {
    if (start - removed > unchangedBefore) break;
    removed += end - start;
  }
  return unchangedBefore + removed;
}

function after({ line }: DisplayLine, text: string): Ghost {
  return { line, character: Number.MAX_SAFE_INTEGER, text, kind: 'line' };
}

function summary(lines: DisplayLine[]): string {
  const first = lines.find(({ text }) => text.trim()) ?? lines[0];
  const text = first ? oneLine(first) : '';
  const more = lines.length - 1;
  return more ? `${text || '(empty line)'}  ⋯ ${more} more ${more === 1 ? 'line' : 'lines'}` : text || '(empty line)';
}

/** A line, or what has changed of a long one. */
function oneLine({ text, excerpt }: DisplayLine): string {
  const parts = excerpt?.length ? excerpt.map(([start, end]) => text.slice(start, end).trim()) : [text.trim()];
  return cut(parts.join(' … '), LONGEST);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/** A span without the spaces at its ends; undefined if it has nothing else. */
function trimmed([start, end]: Span, text: string): Span | undefined {
  const part = text.slice(start, end);
  const first = start + part.length - part.trimStart().length;
  return part.trim() ? [first, first + part.trim().length] : undefined;
}
