// Tries the extension in a real VS Code: code-server in headless Chromium.
//
//   npm run package && npm run try -- --code-server PATH --python PATH [--screenshot FILE]
//
// The Python needs distlint[server]; CHROMIUM names another browser than /usr/bin/chromium. The Python
// extension is not to be had in code-server: try/python stands in for it.

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createVSIX } from "@vscode/vsce";
import puppeteer from "puppeteer-core";

const PORT = 18_080;
const PATIENCE = Number(process.env.PATIENCE ?? 120_000);
const here = fileURLToPath(new URL(".", import.meta.url));

const { values: chosen } = parseArgs({
  options: {
    "code-server": { type: "string", default: "code-server" },
    python: { type: "string", default: "python3" },
    screenshot: { type: "string" },
  },
});

const SETUP = ["import torch\n", "import torch.distributed as dist\n", "x = torch.ones(1)"];
const BUG = ["%matplotlib inline\n", "if dist.get_rank() == 0:\n", "    dist.all_reduce(x)\n", "dist.barrier()"];
const UNUSED = ["y = 1  # distlint: ignore[DST101]"];

function notebook() {
  const cells = [SETUP, BUG, UNUSED].map((source, index) => ({
    cell_type: "code",
    execution_count: null,
    id: `cell-${index}`,
    metadata: {},
    outputs: [],
    source,
  }));
  const metadata = { language_info: { name: "python" } };
  return `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

function prepared(folder) {
  const project = join(folder, "project");
  const [user, machine] = ["User", "Machine"].map((name) => join(folder, "data", name));
  for (const each of [project, user, machine]) mkdirSync(each, { recursive: true });
  const example = join(here, "..", "..", "..", "examples", "nanogpt_style", "buggy.py");
  copyFileSync(example, join(project, "train.py"));
  writeFileSync(join(project, "train.ipynb"), notebook());
  writeFileSync(join(project, "ds_config.json"), '{ "zero_optimization": { "overlap_com": true } }\n');
  const environments = ["first", "second"].map((name) => environment(join(folder, name)));
  const without = join(folder, "without", "python");
  mkdirSync(dirname(without));
  writeFileSync(without, "#!/bin/sh\necho \"No module named 'distlint'\" >&2\nexit 1\n");
  chmodSync(without, 0o755);
  writeFileSync(
    join(machine, "settings.json"),
    JSON.stringify({ "standIn.interpreters": [...environments, without] }),
  );
  writeFileSync(
    join(user, "settings.json"),
    JSON.stringify({
      "distlint.inlayHints": true,
      "workbench.startupEditor": "none",
      "workbench.colorTheme": "Default Light Modern",
      "chat.disableAIFeatures": true,
      "security.workspace.trust.enabled": false,
      "workbench.secondarySideBar.defaultVisibility": "hidden",
      "editor.fontSize": 13,
      "editor.minimap.enabled": false,
    }),
  );
  return project;
}

/** An environment whose distlint is that of --python, and notes the processes that it starts as. */
function environment(folder) {
  mkdirSync(folder);
  const real = join(dirname(chosen.python), "distlint");
  const note = `echo "$$ $*" >> "${join(folder, "started")}"`;
  writeFileSync(join(folder, "distlint"), `#!/bin/sh\n${note}\nexec "${real}" "$@"\n`);
  chmodSync(join(folder, "distlint"), 0o755);
  writeFileSync(join(folder, "started"), "");
  symlinkSync(chosen.python, join(folder, "python"));
  return join(folder, "python");
}

/** The servers that were started from an environment and have not ended. */
function servers(folder) {
  const lines = readFileSync(join(folder, "started"), "utf-8").split("\n");
  return lines
    .filter((line) => line.endsWith(" server"))
    .map((line) => Number(line.split(" ")[0]))
    .filter((id) => {
      try {
        return process.kill(id, 0);
      } catch {
        return false;
      }
    });
}

function codeServer(folder, ...args) {
  const own = ["--user-data-dir", join(folder, "data"), "--extensions-dir", join(folder, "extensions")];
  return [chosen["code-server"], [...own, "--disable-telemetry", "--disable-update-check", ...args]];
}

async function listening() {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    try {
      return await fetch(`http://127.0.0.1:${PORT}/healthz`);
    } catch {
      await pause(500);
    }
  }
  throw new Error("code-server does not answer");
}

/** Waits for something on the page, given as a function that is run there. */
async function seen(page, what, condition, ...args) {
  try {
    await page.waitForFunction(condition, { timeout: PATIENCE }, ...args);
    console.log(`ok  ${what}`);
  } catch (error) {
    const file = join(tmpdir(), "distlint-vscode-failed.png");
    await page.screenshot({ path: file });
    throw new Error(`${what}: not seen, see ${file}`, { cause: error });
  }
}

async function chord(page, keys) {
  const parts = keys.split("+");
  const last = parts.pop();
  for (const key of parts) await page.keyboard.down(key);
  await page.keyboard.press(last);
  for (const key of parts.reverse()) await page.keyboard.up(key);
}

/** Opens a file by its name, or runs a command that begins with `>`. */
async function quickly(page, text) {
  await chord(page, text.startsWith(">") ? "F1" : "Control+p");
  await page.waitForSelector(".quick-input-widget .monaco-inputbox input", { visible: true });
  await pause(500);
  const words = text.replace(/^>/, "");
  await page.keyboard.type(words, { delay: 20 });
  await seen(page, `${words} is offered`, holds, ".quick-input-list .monaco-list-row.focused", words);
  await pause(500);
  await page.keyboard.press("Enter");
}

const runs = () =>
  [...document.querySelectorAll(".statusbar-item")].some(
    (each) => each.textContent.includes("distlint") && each.querySelector(".codicon-check"),
  );
const fails = () =>
  [...document.querySelectorAll(".statusbar-item")].some(
    (each) => each.textContent.includes("distlint") && each.querySelector(".codicon-error"),
  );
const counts = () => /[1-9]/.test(document.querySelector("[id='status.problems']")?.textContent);
const holds = (selector, text) =>
  [...document.querySelectorAll(selector)].some((each) =>
    each.textContent.replaceAll("\u00a0", " ").includes(text),
  );
const shows = (selector, count) => document.querySelectorAll(selector).length >= count;

async function comes(what, condition) {
  const end = Date.now() + PATIENCE;
  while (Date.now() < end) {
    if (condition()) {
      console.log(`ok  ${what}`);
      return;
    }
    await pause(500);
  }
  throw new Error(`${what}: not so`);
}

const onDisk = (file, what, holdsTrue) => comes(what, () => holdsTrue(readFileSync(file, "utf-8")));

async function tried(page, project) {
  const script = join(project, "train.py");
  await page.goto(`http://127.0.0.1:${PORT}/?folder=${encodeURIComponent(project)}`);
  await page.waitForSelector(".monaco-workbench", { timeout: PATIENCE });
  await pause(5000);
  await quickly(page, "train.py");
  await seen(page, "the server runs", runs);
  await seen(page, "there are findings", counts);
  await page.keyboard.press("F8");
  await seen(page, "the finding is explained", holds, ".zone-widget", "ranks diverge on");
  await seen(page, "the finding is underlined", shows, ".squiggly-error", 1);
  await pause(1500);
  if (chosen.screenshot) await page.screenshot({ path: chosen.screenshot });
  await page.keyboard.press("Escape");
  await seen(page, "a hint tells which ranks come", holds, ".view-line", "ranks 1-3, not rank 0");
  await chord(page, "Control+.");
  await seen(page, "the quick fix is offered", holds, ".action-widget", "Call `estimate_loss`");
  await pause(500);
  await page.keyboard.press("Enter");
  await pause(1500);
  await chord(page, "Control+s");
  await onDisk(script, "the quick fix is applied", (text) =>
    text.includes("    if iter_num % eval_interval == 0:\n        losses = estimate_loss()\n"),
  );
  await quickly(page, ">distlint: Restart Server");
  await pause(1000);
  await seen(page, "the server runs again", runs);

  await quickly(page, "ds_config.json");
  await seen(page, "a DeepSpeed file has its finding", shows, ".squiggly-error", 1);

  const file = join(project, "train.ipynb");
  await quickly(page, "train.ipynb");
  await page.waitForSelector(".notebookOverlay", { timeout: PATIENCE });
  await seen(page, "a cell has its finding", shows, ".notebookOverlay .squiggly-error", 1);
  await quickly(page, ">distlint: Apply All Safe Fixes");
  await pause(3000);
  await chord(page, "Control+s");
  await onDisk(file, "fix all repairs the notebook", (text) => !text.includes("ignore[DST101]"));
  const cells = JSON.parse(readFileSync(file, "utf-8")).cells;
  if (cells[1].source.join("") !== BUG.join("")) throw new Error("another cell has changed");
  await quickly(page, ">distlint: Show Output");
  await seen(page, "the output is shown", holds, ".output-view, .part.panel", "distlint");
  await follows(page, join(project, ".."));
}

/** The server is always that of the environment that is selected, and the only one. */
async function follows(page, folder) {
  const [first, second] = ["first", "second"].map((name) => join(folder, name));
  const are = (one, other) => () => servers(first).length === one && servers(second).length === other;
  await pause(1500); // the output takes the focus
  await quickly(page, "train.py");
  await comes("the server is that of the selected environment", are(1, 0));
  await quickly(page, ">Stand-in: Select Next Environment");
  await comes("another environment is selected: its server runs, the one before has ended", are(0, 1));
  await seen(page, "the status says so", runs);
  await seen(page, "there are findings again", counts);
  await quickly(page, ">Stand-in: Select Next Environment");
  await comes("an environment without distlint is selected: no server is left", are(0, 0));
  await seen(page, "the status says that none runs", fails);
  await seen(page, "a message says why", holds, ".notifications-toasts", "No module named 'distlint'");
  await quickly(page, ">Stand-in: Select Next Environment");
  await comes("the first one is selected again", are(1, 0));
  await seen(page, "the server runs once more", runs);
  writeFileSync(
    join(folder, "data", "Machine", "settings.json"),
    JSON.stringify({ "distlint.interpreter": join(second, "python") }),
  );
  await comes("an interpreter that is named in the settings comes first", are(0, 1));
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "distlint-vscode-"));
  const project = prepared(folder);
  const standIn = join(folder, "python.vsix");
  await createVSIX({
    cwd: join(here, "python"),
    packagePath: standIn,
    dependencies: false,
    allowMissingRepository: true,
    skipLicense: true,
  });
  for (const vsix of [join(here, "..", "dist", "distlint.vsix"), standIn]) {
    const [program, install] = codeServer(folder, "--install-extension", vsix);
    const installed = spawnSync(program, install, { encoding: "utf-8" });
    if (installed.status !== 0) throw new Error(installed.stdout + installed.stderr);
  }
  const [program, serve] = codeServer(folder, "--auth", "none", "--bind-addr", `127.0.0.1:${PORT}`, project);
  const server = spawn(program, serve, { stdio: "ignore", detached: true });
  let browser;
  try {
    await listening();
    browser = await puppeteer.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu"],
      defaultViewport: { width: 1280, height: 760 },
    });
    await tried(await browser.newPage(), project);
  } catch (error) {
    for (const file of globSync(join(folder, "data", "logs", "**", "distlint.log"))) {
      console.log(readFileSync(file, "utf-8"));
    }
    throw error;
  } finally {
    await browser?.close();
    process.kill(-server.pid);
    await pause(1000);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

await main();
