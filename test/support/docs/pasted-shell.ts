/**
 * An interactive shell in a terminal, into which blocks are pasted as a person pastes them: by tmux, with bracketed
 * paste where the shell asks for it. History expansion, prompts and job control are those of a real terminal.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../../src/host/process.ts";
import { eventually } from "../lab/eventually.ts";

const COMMANDS = {
  bash: ["bash", "--noprofile", "--norc", "-i"],
  zsh: ["zsh", "-f", "-i"],
} as const;

export type ShellName = keyof typeof COMMANDS;

export interface PastedShell {
  /** Pastes a block, presses Enter, and answers with everything that the terminal showed until the block was done. */
  paste(block: string): Promise<string>;
  close(): Promise<void>;
}

export async function openShell(
  shell: ShellName,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<PastedShell> {
  const folder = await mkdtemp(join(tmpdir(), "fl-tty-"));
  const config = join(folder, "tmux.conf");
  await writeFile(config, "set -g history-limit 20000\nset -g default-terminal screen\n");
  const variables = Object.entries({ ...env, HISTFILE: "/dev/null", PS1: "$ " });
  const start = ["env", "-i", ...variables.map(([name, value]) => `${name}=${value}`), ...COMMANDS[shell]];
  const tmux = async (...args: string[]): Promise<string> => {
    const base = ["-S", join(folder, "tmux.sock"), "-f", config];
    const result = await run("tmux", [...base, ...args], { timeoutMs: 20_000, maxOutputBytes: 8_000_000 });
    if (result.kind !== "exited" || result.code !== 0)
      throw new Error(`tmux ${args[0]}: ${JSON.stringify(result)}`);
    return result.stdout.toString("utf8");
  };
  const screen = () => tmux("capture-pane", "-p", "-J", "-S", "-", "-t", "tour");
  await tmux("new-session", "-d", "-s", "tour", "-x", "180", "-y", "50", "-c", cwd, ...start);
  await eventually("the shell shows a prompt", async () => (await screen()).includes("$ "));
  let blocks = 0;

  return {
    async paste(block) {
      const [begun, done] = [`::begin ${++blocks}::`, `::done ${blocks}::`];
      // Quotes inside the typed words: the terminal shows them as typed once, and as printed once.
      const typed = (mark: string) => `echo ${mark.slice(0, 3)}"${mark.slice(3)}"`;
      const file = join(folder, `block-${blocks}`);
      await writeFile(file, `${typed(begun)}\n${block.trimEnd()}\n${typed(done)}`);
      await tmux("load-buffer", "-b", "block", file);
      await tmux("paste-buffer", "-p", "-b", "block", "-t", "tour");
      await tmux("send-keys", "-t", "tour", "Enter");
      const shown = await eventually(
        `block ${blocks} is done: ${(await readFile(file, "utf8")).slice(0, 200)}`,
        async () => {
          const text = await screen();
          if (text.split("\n").some((line) => line.endsWith(done))) return text;
          throw new Error(`the terminal shows\n${text.trimEnd().slice(-3_000)}`);
        },
      );
      return shown.slice(shown.lastIndexOf(begun) + begun.length);
    },
    async close() {
      await tmux("kill-server").catch(() => ""); // the shell may have ended it already
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The shell blocks of a page, or of one of its sections. */
export function shellBlocks(page: string, section?: string): string[] {
  const text =
    section === undefined
      ? page
      : (new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(page)?.[1] ?? "");
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
}
