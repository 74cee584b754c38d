// Text that a model, a stranger's file or the server wrote, on its way into VS Code's own surfaces.

/**
 * Text for a notification. VS Code makes links of `[a](b)` there, and one to `command:` would run
 * anything at a click; a space without width takes them apart. It also joins lines, so each one ends
 * as a sentence.
 */
export function inNotification(text: string): string {
  return text.replace(/([^\s.,;:!?…])[ \t]*\n\s*/g, '$1. ').replace(/\]\(/g, ']\u200b(');
}

/** A text of the server in which its commands have their titles in the palette. */
export function withTitles(text: string, titles: ReadonlyMap<string, string>): string {
  return text.replace(/`(stet\.\w+)`/g, (name, command: string) => titles.get(command) ?? name);
}

/** Text for the status bar and for lists, where `$(name)` would become an icon: one line, cut. */
export function inOneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\$\(/g, '$\u200b(');
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

/** Text that is drawn into an editor: characters that hide or turn text round are written out. */
export function visible(text: string): string {
  return text.replace(/\t/g, '    ').replace(HIDDEN, (character) =>
    `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** `1 hunk`, `2 hunks`. */
export function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}

const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60]] as const;

/** How long ago a time was: `just now`, `3 minutes ago`. */
export function ago(then: Date, now: Date): string {
  const seconds = (now.getTime() - then.getTime()) / 1000;
  const [unit, length] = UNITS.find(([, least]) => seconds >= least) ?? ['', 1];
  return unit ? `${count(Math.floor(seconds / length), unit)} ago` : 'just now';
}
