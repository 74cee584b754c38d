// Which program is started. Nothing in a workspace may choose it: neither a setting, nor a file that
// happens to be called `stet` in the folder that is open.

import { constants, promises as fs } from 'node:fs';
import { homedir } from 'node:os';
import * as path from 'node:path';

/** The program can't be started; the message says why. */
export class NoProgram extends Error {}

/**
 * The absolute path of `stet`.
 *
 * @param setting The user's `stet.path`; empty: the PATH is searched.
 * @param folders The workspace's folders. What lies in one of them is not taken from the PATH.
 * @throws NoProgram
 */
export async function findProgram(setting: string, folders: readonly string[]): Promise<string> {
  if (setting.trim()) {
    const named = setting.trim().replace(/^~(?=[/\\])/, homedir());
    if (!path.isAbsolute(named)) {
      throw new NoProgram(`The setting "stet.path" is '${setting}'. Use an absolute path, or one that begins with ~/.`);
    }
    if (!(await runs(named))) {
      throw new NoProgram(`The setting "stet.path" is '${setting}', but there is no program at that path.`);
    }
    return named;
  }
  const names = process.platform === 'win32' ? ['stet.exe', 'stet.cmd'] : ['stet'];
  for (const folder of (process.env['PATH'] ?? '').split(path.delimiter)) {
    // A relative entry means another folder in each workspace, so a stranger could fill it.
    if (!path.isAbsolute(folder) || folders.some((root) => isWithin(folder, root))) continue;
    for (const name of names) {
      const candidate = path.join(folder, name);
      if (await runs(candidate)) return candidate;
    }
  }
  throw new NoProgram('The program `stet` is not on the PATH of VS Code.');
}

function isWithin(file: string, folder: string): boolean {
  const way = path.relative(folder, file);
  return way === '' || (!way.startsWith('..') && !path.isAbsolute(way));
}

async function runs(file: string): Promise<boolean> {
  try {
    await fs.access(file, constants.X_OK);
    return (await fs.stat(file)).isFile();
  } catch {
    return false;
  }
}

/** Whether version `is` (like `0.1.0`) is at least `least`. */
export function isAtLeast(is: string, least: string): boolean {
  const [a, b] = [is, least].map((text) => text.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
