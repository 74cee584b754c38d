// Who answers: the agent, and what it offers, such as its mode and its model.

import * as vscode from 'vscode';
import type { Server } from './server';
import { inOneLine } from './text';
import { isChat } from './where';

interface Option {
  id: string;
  name: string;
  current: string;
  values: { value: string; name: string }[];
}

/** One entry of the answer of `stet.agents`. */
interface Agent {
  name: string;
  title: string;
  state: string;
  current: boolean;
  options: Option[];
}

interface Item extends vscode.QuickPickItem {
  run: () => Promise<void>;
}

export class Agents {
  constructor(private readonly server: Server) {}

  /** Pick the agent that answers, or an option of the one that does. */
  readonly chooseAgent = async (): Promise<void> => {
    const document = vscode.window.activeTextEditor?.document;
    const place = document && isChat(document) ? { uri: this.server.uriOf(document.uri) } : {};
    const agents = await this.server.run<Agent[]>('stet.agents', place);
    if (!agents) return;
    const current = agents.find((agent) => agent.current);
    const choose = async (choice: object): Promise<void> => {
      await this.server.run('stet.chooseAgent', { ...place, ...choice });
    };
    const items: Item[] = agents.map(({ name, title, current: isCurrent }) => ({
      label: `$(${isCurrent ? 'check' : 'blank'}) ${inOneLine(title, 100)}`,
      description: isCurrent ? 'answers now' : '',
      run: () => choose({ agent: name }),
    }));
    const options: Item[] = (current?.options ?? []).map((option) => ({
      label: `$(settings) ${inOneLine(option.name, 80)}…`,
      description: option.values.find(({ value }) => value === option.current)?.name ?? '',
      run: async () => {
        const values = option.values.map(({ value, name }) => ({
          label: inOneLine(name, 100), description: value === option.current ? 'now' : '', value,
        }));
        const picked = await vscode.window.showQuickPick(values, { title: `Stet: ${current?.name}, ${option.name}` });
        if (picked) await choose({ agent: current?.name, option: option.id, value: picked.value });
      },
    }));
    const chosen = await vscode.window.showQuickPick([...items, ...options], {
      title: 'Stet: Agents', placeHolder: 'Select who answers, or an option of the agent', matchOnDescription: true,
    });
    await chosen?.run();
  };
}
