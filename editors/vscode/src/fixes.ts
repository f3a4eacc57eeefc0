/** All safe fixes of a file, or of a notebook. */

import * as vscode from "vscode";

export async function fixAll(): Promise<void> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  const cell = notebook?.getCells().find((each) => each.kind === vscode.NotebookCellKind.Code);
  const document = cell?.document ?? vscode.window.activeTextEditor?.document;
  if (!document) {
    return;
  }
  const kind = notebook ? "notebook.source.fixAll.distlint" : "source.fixAll.distlint";
  const whole = new vscode.Range(0, 0, document.lineCount, 0);
  const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    "vscode.executeCodeActionProvider",
    document.uri,
    whole,
    kind,
    1,
  );
  const edit = actions.find((each) => each.edit)?.edit;
  if (edit) {
    await vscode.workspace.applyEdit(edit);
  } else {
    void vscode.window.setStatusBarMessage("distlint: no safe fixes available", 5000);
  }
}
