// The server's process and the connection to it: start, restart, requests.

import { homedir } from 'node:os';
import * as vscode from 'vscode';
import {
  CloseAction, DidChangeConfigurationNotification, ErrorAction, ExecuteCommandRequest, LanguageClient, MessageType, State, ShowMessageNotification,
  ShowMessageRequest, TransportKind, WorkDoneProgressCancelNotification,
  type ClientCapabilities, type ExecuteCommandParams, type FeatureState, type LanguageClientOptions, type ProgressToken, type StaticFeature,
  type WorkDoneProgressBegin, type WorkDoneProgressEnd, type WorkDoneProgressReport,
} from 'vscode-languageclient/node';
import { findProgram, isAtLeast, NoProgram } from './program';
import { serverSection, userSetting } from './settings';
import { inNotification, withTitles } from './text';
import { isChatUri } from './where';

const DEATHS = 4;
const WITHIN = 60_000;
const LONG = 240;
/** Milliseconds. */
const SHOWN_WITHIN = 2000;
/** The last line of a question, for editors without a button for it. */
const HOW_TO_ANSWER = /\n[^\n]*`stet\.answer`[^\n]*$/;
const OWN_WORDS = 'Answer…';

export type Work = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** What the rest of the extension is told. */
export interface Listener {
  /** The diagnostics of a file as the server has just sent them. */
  diagnostics(uri: vscode.Uri, found: vscode.Diagnostic[]): void;
  /** The progress of a piece of work. */
  progress(token: ProgressToken, work: Work): void;
  /** The server runs, or why it doesn't; without a reason it is about to. */
  state(runs: boolean, why?: string): void;
  /** The server asks to show a chat document. */
  showChat(uri: vscode.Uri, takeFocus: boolean): void;
  /** The server asks to show a document: whether it is a proposed file, which is then shown. */
  showNewFile(uri: vscode.Uri): Promise<boolean>;
  /** Whether the diff of a file contains a hunk. */
  isInDiff(uri: vscode.Uri, hunk: string): boolean;
}

interface ShowChat {
  uri: string;
  chat: string;
  takeFocus: boolean;
}

/** What this extension shows itself; the server then shows less by other means. */
class OwnDisplay implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { ...capabilities.experimental, stet: { drawsHunks: true, opensChat: true } };
  }

  initialize(): void {}

  getState(): FeatureState {
    return { kind: 'static' };
  }

  clear(): void {}
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private deaths: number[] = [];
  private spawned = 0;
  private hasAnswered = false;
  private readonly shownDocument = new vscode.EventEmitter<void>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly listener: Listener,
    private readonly log: vscode.LogOutputChannel,
    private readonly began: NodeJS.CpuUsage,
  ) {}

  get runs(): boolean {
    return this.client?.state === State.Running;
  }

  /** Start or restart it; a failure is shown with what to do. */
  async start(): Promise<void> {
    await this.stop();
    try {
      const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
      const program = await findProgram(userSetting<string>('path') ?? '', folders);
      await this.begin(program);
    } catch (error) {
      await this.explain(error);
    }
  }

  private async begin(program: string): Promise<void> {
    this.log.info(`starting ${program} serve`);
    const run = {
      command: program,
      args: ['serve'],
      transport: TransportKind.stdio,
      // Not the workspace: Windows looks for programs in the folder a process stands in.
      options: { cwd: homedir(), shell: program.endsWith('.cmd') },
    };
    const client = new LanguageClient('stet', 'Stet', { run, debug: run }, this.options());
    this.client = client;
    client.registerFeature(new OwnDisplay());
    client.onNotification('$/stet/showChat', ({ uri, takeFocus }: ShowChat) =>
      this.listener.showChat(client.protocol2CodeConverter.asUri(uri), takeFocus));
    client.onNotification(ShowMessageNotification.type, ({ type, message }) => this.told(type, message));
    client.onRequest(ShowMessageRequest.type, async ({ type, message, actions }) => {
      const own = HOW_TO_ANSWER.test(message) ? [{ title: OWN_WORDS }] : [];
      const text = this.shown(message.replace(HOW_TO_ANSWER, ''));
      const chosen = await notify(type)(text, ...(actions ?? []), ...own);
      if (chosen?.title === OWN_WORDS) void vscode.commands.executeCommand('stet.ui.answer');
      return chosen && chosen.title !== OWN_WORDS ? { title: chosen.title } : null;
    });
    client.onDidChangeState(({ newState }) => this.listener.state(newState === State.Running));
    this.spawned = performance.now();
    this.hasAnswered = false;
    await client.start();
    this.check(client);
    this.hasAnswered = true;
  }

  private check(client: LanguageClient): void {
    const info = client.initializeResult?.serverInfo;
    const least: string = this.context.extension.packageJSON.stet.leastServer;
    if (info?.name !== 'stet') {
      throw new NoProgram('The program `stet` on the PATH is not Stet, but another program of that name.');
    }
    const took = Math.round(performance.now() - this.spawned);
    const { user, system } = process.cpuUsage(this.began);
    const own = Math.round((user + system) / 1000);
    this.log.info(`stet ${info.version} runs, ${took} ms after its start; the extension used ${own} ms of processor time`);
    if (!isAtLeast(info.version ?? '', least)) {
      throw new NoProgram(`The extension needs Stet ${least} or newer, but the program is version ${info.version}. Update it.`);
    }
  }

  private options(): LanguageClientOptions {
    const section = () => serverSection(this.context.extension);
    return {
      documentSelector: [{ scheme: 'file' }, { scheme: 'untitled' }],
      initializationOptions: () => ({ stet: section() }),
      outputChannel: this.log,
      markdown: { isTrusted: false, supportHtml: false },
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
      middleware: {
        handleDiagnostics: (uri, found, next) => {
          next(uri, found.map(shortened));
          this.listener.diagnostics(uri, found);
        },
        provideCodeLenses: async (document, token, next) =>
          withDiff((await next(document, token)) ?? [], (hunk) => this.listener.isInDiff(document.uri, hunk)),
        // VS Code's own progress in the status bar has no button to cancel it.
        handleWorkDoneProgress: (token, work, next) => {
          if (work.kind === 'end') next(token, work);
          this.listener.progress(token, work);
        },
        executeCommand: async (command, args, next) => {
          try {
            return await next(command, args);
          } catch (error) {
            void vscode.window.showWarningMessage(this.shown(`Stet: ${messageOf(error)}`));
            return undefined;
          }
        },
        window: {
          showDocument: async (params, token, next) => {
            const uri = vscode.Uri.parse(params.uri, true);
            try {
              if (await this.listener.showNewFile(uri)) return { success: true };
              if (!isChatUri(uri)) return await next(params, token);
              this.listener.showChat(uri, params.takeFocus !== false);
              return { success: true };
            } finally {
              this.shownDocument.fire();
            }
          },
        },
        workspace: {
          // The client's own answers would include settings of the workspace.
          configuration: ({ items }) =>
            items.map((item) => (item.section === 'stet' ? section() : null)),
          didChangeConfiguration: async () => this.configure(),
        },
      },
    };
  }

  /** Send the settings as they are now. */
  async configure(): Promise<void> {
    if (!this.runs) return;
    const settings = { stet: serverSection(this.context.extension) };
    await this.client?.sendNotification(DidChangeConfigurationNotification.type, { settings });
  }

  /** A text of the server as it is shown in a notification. */
  private shown(text: string): string {
    const commands: { command: string; title: string }[] = this.context.extension.packageJSON.contributes.commands;
    const titles = commands.map(({ command, title }) => [command.replace('stet.ui.', 'stet.'), `"${title.replace('…', '')}"`] as const);
    return inNotification(withTitles(text, new Map(titles)));
  }

  private told(type: MessageType, message: string): void {
    this.log.info(message);
    if (HOW_TO_ANSWER.test(message)) {
      const text = this.shown(message.replace(HOW_TO_ANSWER, ''));
      return void notify(type)(text, { title: OWN_WORDS }).then((chosen) => {
        if (chosen) void vscode.commands.executeCommand('stet.ui.answer');
      });
    }
    if (message.length <= LONG) return void notify(type)(this.shown(message));
    const chat = 'Open Chat';
    const short = `${message.slice(0, LONG)}…`;
    void notify(type)(this.shown(short), { title: chat }).then((chosen) => {
      if (chosen) void vscode.commands.executeCommand('stet.ui.openChat');
    });
  }

  private closed() {
    // A program that never answered isn't started again; `start` says why.
    if (!this.hasAnswered) return { action: CloseAction.DoNotRestart, handled: true };
    const now = Date.now();
    this.deaths = [...this.deaths.filter((then) => now - then < WITHIN), now];
    if (this.deaths.length < DEATHS) {
      void vscode.window.showWarningMessage(
        'Stet ended unexpectedly and is restarting. Pending hunks are kept.');
      return { action: CloseAction.Restart, handled: true };
    }
    this.deaths = [];
    this.listener.state(false, 'Stet ended unexpectedly');
    void this.offer('Stet ended unexpectedly several times. Your text is safe, and pending hunks are kept.', ['Restart', 'Show Log']);
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async explain(error: unknown): Promise<void> {
    await this.stop();
    const known = error instanceof NoProgram;
    this.log.error(messageOf(error));
    this.listener.state(false, messageOf(error));
    const said = known
      ? messageOf(error)
      : `The program \`stet\` doesn't answer as a language server (${messageOf(error)}). Is it Stet?`;
    const ways = ['Choose Program…', 'Try Again', known ? 'Help' : 'Show Log'];
    void this.offer(`Stet is not running. ${said}`, ways);
  }

  private async offer(said: string, ways: string[]): Promise<void> {
    const chosen = await vscode.window.showErrorMessage(inNotification(said), ...ways);
    if (chosen === 'Choose Program…') await this.choose();
    if (chosen === 'Try Again' || chosen === 'Restart') await this.start();
    if (chosen === 'Show Log') this.log.show();
    if (chosen === 'Help') await this.help();
  }

  private async choose(): Promise<void> {
    const options = { openLabel: 'Use This Program', title: 'Choose the program stet' };
    const found = await vscode.window.showOpenDialog(options);
    if (!found?.[0]) return;
    // A change of the setting starts it.
    await vscode.workspace.getConfiguration('stet')
      .update('path', found[0].fsPath, vscode.ConfigurationTarget.Global);
  }

  /** Show the README of this extension. */
  async help(): Promise<void> {
    const page = vscode.Uri.joinPath(this.context.extensionUri, 'README.md');
    await vscode.commands.executeCommand('markdown.showPreview', page);
  }

  /**
   * Run a command of the server for the extension itself: a failure is only logged.
   *
   * @returns Its answer; undefined if there is none.
   */
  async query<T>(command: string, argument?: object): Promise<T | undefined> {
    if (!this.client || !this.runs) return undefined;
    const params: ExecuteCommandParams = { command, arguments: argument ? [argument] : [] };
    try {
      return (await this.client.sendRequest(ExecuteCommandRequest.type, params)) as T;
    } catch (error) {
      this.log.info(`${command}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /**
   * Run a command of the server for the user: a failure is shown.
   *
   * @returns Its answer; undefined if there is none.
   */
  async run<T>(command: string, argument?: object, token?: vscode.CancellationToken): Promise<T | undefined> {
    if (!this.client || !this.runs) {
      await this.offer('Stet is not running.', ['Try Again', 'Show Log']);
      return undefined;
    }
    const params: ExecuteCommandParams = { command, arguments: argument ? [argument] : [] };
    try {
      return (await this.client.sendRequest(ExecuteCommandRequest.type, params, token)) as T;
    } catch (error) {
      if (token?.isCancellationRequested) return undefined;
      void vscode.window.showWarningMessage(this.shown(`Stet: ${messageOf(error)}`));
      return undefined;
    }
  }

  /** Wait until the server has had the next document shown, two seconds at most. */
  nextShown(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(), SHOWN_WITHIN);
      const subscription = this.shownDocument.event(() => done());
      const done = () => {
        clearTimeout(timer);
        subscription.dispose();
        resolve();
      };
    });
  }

  /** Tell the server something; nothing is lost if it isn't there. */
  notify(method: string, params: object): void {
    if (this.runs) void this.client?.sendNotification(method, params);
  }

  /** Stop one piece of work. */
  cancel(token: ProgressToken): void {
    if (this.runs) void this.client?.sendNotification(WorkDoneProgressCancelNotification.type, { token });
  }

  uriOf(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client && client.state !== State.Stopped) await client.stop().catch(() => undefined);
    await client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    this.shownDocument.dispose();
    void this.stop();
  }
}

/**
 * A hunk's diagnostic at its first character: the lines are marked in the text already, and a hover shows
 * the server's diff alone. Conflicts and questions keep their range. A conflict has a badge and a sign of ours.
 */
function shortened(diagnostic: vscode.Diagnostic): vscode.Diagnostic {
  if (diagnostic.code !== 'proposal' && diagnostic.code !== 'conflict') return diagnostic;
  const { start } = diagnostic.range;
  // The client's own class: it sends back what the server attached.
  const copy: vscode.Diagnostic = Object.assign(Object.create(Object.getPrototypeOf(diagnostic)), diagnostic);
  // A warning would add a second number to the file in the explorer.
  copy.severity = vscode.DiagnosticSeverity.Information;
  if (diagnostic.code === 'conflict') return copy;
  copy.range = new vscode.Range(start, start.translate(0, 1));
  return copy;
}

/** The lenses of the server, each hunk that is in the file's diff with one more that shows it. */
function withDiff(lenses: vscode.CodeLens[], isInDiff: (hunk: string) => boolean): vscode.CodeLens[] {
  const own = lenses.filter(({ command }) => isInDiff(command?.arguments?.[0]?.hunk));
  const last = new Map(own.map((lens) => [lens.range.start.line, lens]));
  const command = { title: 'Diff', command: 'stet.ui.diff' };
  return [...lenses, ...[...last.values()].map((lens) => new vscode.CodeLens(lens.range, command))];
}

type Notify = (message: string, ...items: vscode.MessageItem[]) => Thenable<vscode.MessageItem | undefined>;

function notify(type: MessageType): Notify {
  const { showErrorMessage, showWarningMessage, showInformationMessage } = vscode.window;
  if (type === MessageType.Error) return (message, ...items) => showErrorMessage(message, ...items);
  if (type === MessageType.Warning) return (message, ...items) => showWarningMessage(message, ...items);
  return (message, ...items) => showInformationMessage(message, ...items);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
