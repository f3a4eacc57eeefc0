/** What the status bar says about the server. */

import * as vscode from "vscode";

export type State = "starting" | "running" | "failed" | "off";

const ICONS: Record<State, string> = {
  starting: "$(sync~spin)",
  running: "$(check)",
  failed: "$(error)",
  off: "$(circle-slash)",
};

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem(
    "distlint.status",
    vscode.StatusBarAlignment.Right,
  );

  constructor() {
    this.#item.name = "distlint";
    this.#item.command = "distlint.showOutput";
  }

  show(state: State, detail: string): void {
    this.#item.text = `${ICONS[state]} distlint`;
    const tooltip = new vscode.MarkdownString(`distlint: ${detail}\n\n`);
    tooltip.isTrusted = { enabledCommands: ["distlint.restart", "distlint.showOutput"] };
    tooltip.appendMarkdown(
      "[Restart](command:distlint.restart) · [Show output](command:distlint.showOutput)",
    );
    this.#item.tooltip = tooltip;
    this.#item.backgroundColor =
      state === "failed" ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}
