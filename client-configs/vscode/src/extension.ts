// The extension: activation, its commands, the menu of the status bar. START HERE.

import * as vscode from 'vscode';
import { Agents } from './agents';
import { Asking, CONTEXT_SCHEME } from './asking';
import { Badges } from './badges';
import { Chats } from './chats';
import { setContext, watchCursor } from './contextKeys';
import { Decorations } from './decorations';
import { Diff } from './diff';
import { Finding } from './finding';
import { Hunks } from './hunks';
import { Reviewing } from './reviewing';
import { Server } from './server';
import { Status } from './status';
import { Where } from './where';

let server: Server | undefined;
const began = process.cpuUsage();

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Stet', { log: true });
  const hunks = new Hunks();
  const status = new Status(hunks);
  const stet = new Server(context, {
    diagnostics: (uri, found) => hunks.take(uri, found),
    progress: (token, work) => status.progress(token, work),
    state: (runs, why) => {
      status.state(runs, why);
      setContext({ 'stet.isRunning': runs });
      if (runs) where.focus();
      else hunks.clear();
    },
    showChat: (uri, takeFocus) => void chats.show(uri, takeFocus),
    showNewFile: (uri) => diff.showNew(uri),
    isInDiff: (uri, hunk) => hunks.of(uri).some((mark) => mark.hunk === hunk && !mark.isConflict && mark.kind !== 'move'),
  }, log, began);
  const where = new Where(stet);
  const diff = new Diff(stet, hunks);
  const decorations = new Decorations(stet, hunks, (page) => diff.fileOf(page));
  const asking = new Asking(stet, where);
  const chats = new Chats(stet);
  const reviewing = new Reviewing(stet, hunks, diff);
  const finding = new Finding(stet);
  server = stet;

  const { ask, askOnly, rewrite, carryOut, steer, cancel, answer, showContext, sendSelection } = asking;
  const { openChat, newChat, listChats, send } = chats;
  const { accept, acceptFile, acceptTurn, acceptAll, reject, rejectFile, rejectTurn, rejectAll } = reviewing;
  const { next, previous, undo, restore, resolve, review, preview } = reviewing;
  const { search, reindex, attach, attached, deadLinks, clearDeadLinks } = finding;
  const commands = {
    ask, askOnly, rewrite, carryOut, steer, cancel, answer, showContext, openChat, newChat, listChats, send,
    accept, acceptFile, acceptTurn, acceptAll, reject, rejectFile, rejectTurn, rejectAll,
    next, previous, undo, restore, resolve, review, preview, diff: reviewing.diff,
    toggle: decorations.toggle,
    chooseAgent: new Agents(stet).chooseAgent, sendSelection, search, reindex, attach, attached, deadLinks, clearDeadLinks,
    menu: () => menu(stet),
    restart: () => stet.start(),
    showLog: () => log.show(),
    help: () => stet.help(),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`stet.ui.${name}`, run));
  }
  context.subscriptions.push(
    log, hunks, status, stet, where, diff, decorations, chats, new Badges(hunks), watchCursor(reviewing, hunks),
    vscode.workspace.registerTextDocumentContentProvider(CONTEXT_SCHEME, asking),
    vscode.workspace.onDidGrantWorkspaceTrust(() => stet.configure()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('stet.path')) void stet.start();
    }),
  );
  // Not awaited: VS Code goes on while the server starts.
  void stet.start();
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** Show the menu of the status bar. */
async function menu(stet: Server): Promise<void> {
  const all = [
    ['$(comment-discussion) Ask or Instruct…', 'ask'],
    ['$(question) Answer Question…', 'answer'],
    ['$(arrow-down) Next Hunk', 'next'],
    ['$(diff) Review All as One Diff', 'review'],
    ['$(check-all) Accept All Hunks', 'acceptAll'],
    ['$(book) Open Chat', 'openChat'],
    ['$(history) Chats…', 'listChats'],
    ['$(hubot) Choose Agent…', 'chooseAgent'],
    ['$(search) Search…', 'search'],
    ['$(attach) Attachments…', 'attached'],
    ['$(eye) Show Context of a Question', 'showContext'],
    ['$(debug-stop) Cancel Turn', 'cancel'],
  ] as const;
  const stopped = [
    ['$(play) Restart Server', 'restart'],
    ['$(output) Show Log', 'showLog'],
    ['$(info) Help', 'help'],
  ] as const;
  const items = (stet.runs ? all : stopped).map(([label, command]) => ({ label, command }));
  const chosen = await vscode.window.showQuickPick(items, { title: 'Stet' });
  if (chosen) await vscode.commands.executeCommand(`stet.ui.${chosen.command}`);
}
