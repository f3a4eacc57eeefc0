// Stands in for the Python extension, which code-server does not offer: the user selects an environment.

const vscode = require("vscode");

exports.activate = (context) => {
  const changed = new vscode.EventEmitter();
  const interpreters = vscode.workspace.getConfiguration("standIn").get("interpreters", []);
  let selected = 0;
  const active = () => ({ id: interpreters[selected], path: interpreters[selected] });
  context.subscriptions.push(
    changed,
    vscode.commands.registerCommand("standIn.next", () => {
      selected = (selected + 1) % interpreters.length;
      changed.fire({ ...active(), resource: undefined });
    }),
  );
  return {
    environments: {
      getActiveEnvironmentPath: active,
      resolveEnvironment: async ({ path }) => ({ executable: { uri: vscode.Uri.file(path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
