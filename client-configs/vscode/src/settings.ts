// What the server is told of the settings. Only what the user has set counts: a workspace may name keys
// that VS Code doesn't check (`"stet": {...}`), and its settings would win. And only what is set is
// sent, so that the user's `config.toml` stays in force for the rest.

import * as vscode from 'vscode';

type Section = { [name: string]: unknown };

/** Settings of the extension itself, which the server doesn't know. */
const OWN = new Set(['path']);

/** A setting as the user has it, in their settings or by default; never as the workspace has it. */
export function userSetting<T>(key: string): T | undefined {
  const found = vscode.workspace.getConfiguration('stet').inspect<T>(key);
  return found?.globalValue ?? found?.defaultValue;
}

/** The section `stet` for the server. */
export function serverSection(extension: vscode.Extension<unknown>): Section {
  const section: Section = {};
  const configuration = vscode.workspace.getConfiguration('stet');
  for (const key of contributed(extension)) {
    const value = configuration.inspect(key)?.globalValue;
    if (value !== undefined && !OWN.has(key)) put(section, key, value);
  }
  if (!vscode.workspace.isTrusted) restrict(section);
  return section;
}

function contributed(extension: vscode.Extension<unknown>): string[] {
  const properties: object = extension.packageJSON.contributes.configuration.properties;
  return Object.keys(properties).map((name) => name.slice('stet.'.length));
}

/**
 * Restricted Mode. What lies in the folder may try to talk the model into something, so nothing runs,
 * nothing is fetched, and nothing is done on save; asking and reviewing stay.
 */
function restrict(section: Section): void {
  const groups = userSetting<string[]>('agent.disabledGroups') ?? [];
  put(section, 'agent.disabledGroups', [...new Set([...groups, 'web', 'advanced'])]);
  put(section, 'agent.commands', []);
  put(section, 'web.provider', 'none');
  put(section, 'instructions.onSave', false);
  put(section, 'edit.canNavigate', false);
}

function put(section: Section, key: string, value: unknown): void {
  const names = key.split('.');
  const last = names.pop() as string;
  let inner = section;
  for (const name of names) inner = (inner[name] ??= {}) as Section;
  inner[last] = value;
}
