/** Which program is the server: the one that is named, else that of the selected environment. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

const run = promisify(execFile);
const windows = process.platform === "win32";

/** Runs distlint without the working folder on the path, where a `json.py` could lie. */
const WITHOUT_FOLDER =
  "import sys; sys.path[:1] = []; from distlint.cli import main; sys.exit(main())";

export class NoProgramError extends Error {}

/** The Python extension, if it is installed. */
export async function pythonExtension(): Promise<PythonExtension | undefined> {
  try {
    return await PythonExtension.api();
  } catch {
    return undefined;
  }
}

/** Finds the program and its version; fails with what to do about it. */
export async function findProgram(
  folder: vscode.WorkspaceFolder | undefined,
  log: vscode.LogOutputChannel,
): Promise<{ program: Program; version: string }> {
  const settings = vscode.workspace.getConfiguration("distlint", folder);
  const named = expanded(settings.get("path", ""), folder);
  if (named) {
    return checked({ command: named, args: [] }, named);
  }
  const interpreter =
    expanded(settings.get("interpreter", ""), folder) || (await selected(folder, log));
  if (interpreter) {
    return checked(programOf(interpreter), interpreter);
  }
  return checked({ command: "distlint", args: [] }, "the search path");
}

function expanded(path: string, folder: vscode.WorkspaceFolder | undefined): string {
  return path
    .replace("${workspaceFolder}", folder?.uri.fsPath ?? "")
    .replace(/^~(?=$|[/\\])/, homedir());
}

/** The Python that the user has selected for a folder. */
async function selected(
  folder: vscode.WorkspaceFolder | undefined,
  log: vscode.LogOutputChannel,
): Promise<string | undefined> {
  const python = await pythonExtension();
  if (!python) {
    log.info("The Python extension is not installed; looking for distlint on the search path.");
    return undefined;
  }
  const path = python.environments.getActiveEnvironmentPath(folder?.uri);
  const environment = await python.environments.resolveEnvironment(path);
  return environment?.executable.uri?.fsPath;
}

function programOf(interpreter: string): Program {
  const script = join(dirname(interpreter), windows ? "distlint.exe" : "distlint");
  return existsSync(script)
    ? { command: script, args: [] }
    : { command: interpreter, args: ["-c", WITHOUT_FOLDER] };
}

async function checked(
  program: Program,
  where: string,
): Promise<{ program: Program; version: string }> {
  try {
    const { stdout } = await run(program.command, [...program.args, "--version"], {
      timeout: 30_000,
    });
    return { program, version: stdout.trim().replace(/^distlint\s+/, "") };
  } catch (error) {
    // the last line of a traceback, which begins with the whole command
    const why = error instanceof Error ? error.message.trim().split("\n").at(-1) : String(error);
    throw new NoProgramError(
      `Cannot run distlint from ${where}. Install distlint[server] there, see the README of this extension (${why})`,
    );
  }
}
