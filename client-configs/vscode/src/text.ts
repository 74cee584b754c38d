// Text that a model, a stranger's file or the server wrote, on its way into VS Code's own surfaces.

/**
 * Text for a notification. VS Code makes links of `[a](b)` there, and one to `command:` would run
 * anything at a click; a space without width takes them apart.
 */
export function inNotification(text: string): string {
  return text.replace(/\]\(/g, ']\u200b(');
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
