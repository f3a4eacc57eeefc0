/** Starts `distlint server` and keeps it in step with the environment and the settings. */

import * as vscode from "vscode";
import {
  type ConfigurationParams,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  State,
} from "vscode-languageclient/node";
import { NoProgramError, type Program, findProgram, pythonExtension } from "./environment";
import { fixAll } from "./fixes";
import { Status } from "./status";

/** What is for the server; the rest is about how it is started. */
const SETTINGS = [
  "select",
  "extendSelect",
  "ignore",
  "extendIgnore",
  "preview",
  "unsafeFixes",
  "inlayHints",
  "patience",
  "configuration",
];
/** Files that may configure or start a training; the server looks at what they hold. */
const LAUNCHING = ["json", "jsonc", "yaml", "shellscript", "dockerfile", "makefile"];
const LAUNCHING_BY_NAME = "**/*.{hjson,slurm,sbatch,sub,pbs,lsf,job,mk,mak}";
const START = ["distlint.enable", "distlint.path", "distlint.interpreter"];

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  extension = new Extension();
  context.subscriptions.push(extension);
  await extension.begin();
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}

class Extension implements vscode.Disposable {
  readonly #log = vscode.window.createOutputChannel("distlint", { log: true });
  readonly #status = new Status();
  readonly #disposables: { dispose(): unknown }[] = [this.#log, this.#status];
  #client: LanguageClient | undefined;
  #turn: Promise<void> = Promise.resolve();

  async begin(): Promise<void> {
    const { commands, workspace } = vscode;
    this.#disposables.push(
      commands.registerCommand("distlint.restart", () => this.restart()),
      commands.registerCommand("distlint.fixAll", fixAll),
      commands.registerCommand("distlint.showOutput", () => {
        this.#log.show();
      }),
      workspace.onDidChangeConfiguration(async (event) => {
        if (START.some((name) => event.affectsConfiguration(name))) {
          await this.restart();
        }
      }),
    );
    const python = await pythonExtension();
    if (python) {
      this.#disposables.push(
        python.environments.onDidChangeActiveEnvironmentPath(() => this.restart()),
      );
    }
    await this.restart();
  }

  /** One start at a time, in the order in which they were asked for. */
  async restart(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      await this.stop();
      await this.#start();
    });
    await this.#turn;
  }

  async stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      // one that could not be started cannot be stopped, and must not be in the way of the next
      this.#log.debug(String(error));
    }
  }

  dispose(): void {
    for (const each of this.#disposables) {
      each.dispose();
    }
  }

  async #start(): Promise<void> {
    const folder = vscode.workspace.workspaceFolders?.[0];
    if (!vscode.workspace.getConfiguration("distlint", folder).get<boolean>("enable", true)) {
      this.#status.show("off", "disabled by `distlint.enable`");
      return;
    }
    this.#status.show("starting", "starting the server");
    try {
      const { program, version } = await findProgram(folder, this.#log);
      this.#log.info(`distlint ${version}: ${program.command}`);
      this.#client = this.#made(program, folder, version);
      await this.#client.start();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#log.error(message);
      this.#status.show("failed", message);
      if (error instanceof NoProgramError) {
        void this.#complain(message);
      }
    }
  }

  #made(
    program: Program,
    folder: vscode.WorkspaceFolder | undefined,
    version: string,
  ): LanguageClient {
    const server = {
      command: program.command,
      args: [...program.args, "server"],
      options: folder ? { cwd: folder.uri.fsPath } : {},
    };
    const options: LanguageClientOptions = {
      documentSelector: [
        ...["python", ...LAUNCHING].map((language) => ({ scheme: "file", language })),
        { scheme: "file", pattern: LAUNCHING_BY_NAME },
        { scheme: "vscode-notebook-cell", language: "python" },
      ],
      outputChannel: this.#log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        workspace: {
          configuration: async (params, token, next) => {
            const found: unknown = await next(params, token);
            return forServer(params, found);
          },
        },
      },
    };
    const client = new LanguageClient("distlint", "distlint", server, options);
    client.onDidChangeState(({ newState }) => {
      if (newState === State.Running) {
        this.#status.show("running", `version ${version}, ${program.command}`);
      } else if (newState === State.Stopped && client === this.#client) {
        this.#status.show("failed", "the server stopped; see its output");
      }
    });
    return client;
  }

  async #complain(message: string): Promise<void> {
    const show = "Show Output";
    if ((await vscode.window.showWarningMessage(message, show)) === show) {
      this.#log.show();
    }
  }
}

/** The settings that the server knows, for each of the sections that it asks for. */
function forServer(params: ConfigurationParams, found: unknown): unknown[] {
  const answers = Array.isArray(found) ? (found as unknown[]) : [];
  return params.items.map((_, index) => {
    const table = answers[index];
    if (typeof table !== "object" || table === null) {
      return table;
    }
    return Object.fromEntries(Object.entries(table).filter(([name]) => SETTINGS.includes(name)));
  });
}
