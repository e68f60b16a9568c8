// `npm run repeat`: the whole test run again and again, in a clone with nothing beside it, until it is trusted.
//
//   npm run repeat -- --times 10 --loaded 2      ten runs of HEAD, the last two with every core kept busy
//   npm run repeat -- --file runs.jsonl          where each run's row is appended (default .cache/repeat.jsonl)
//
// 1. The clone holds HEAD only: uncommitted changes are not tested, and nothing lies beside it.
// 2. A row is appended after each run, so an interrupted series is continued by the same command: rows of this commit
//    count, rows of other commits do not.
// 3. A run is green when it exits 0 and leaves no process, network namespace or mount behind. Nothing else that makes
//    such things may run on the machine meanwhile.

import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { leftBehind, whatIsThere } from "./repeat/left-behind.ts";
import { inRoot } from "./root.mjs";

const HELP = `Usage: npm run repeat -- [--times N] [--loaded N] [--file PATH]

Runs npm test N times in a fresh clone of HEAD and appends a row for each run to a file.
The same command continues a series that was interrupted.

Options:
  --times N     how many green or red runs of this commit to reach (default 10)
  --loaded N    how many of them, the last ones, run while every core is busy (default 2)
  --file PATH   rows, one JSON object a line (default .cache/repeat.jsonl)

Example:
  npm run repeat -- --times 10 --loaded 2
`;

const Row = z.object({
  commit: z.string(),
  began_at: z.string(),
  loaded: z.boolean(),
  seconds: z.number(),
  exit_code: z.number(),
  counts: z.string(),
  left_behind: z.array(z.string()),
});
type Row = z.infer<typeof Row>;

const isGreen = (row: Row): boolean => row.exit_code === 0 && row.left_behind.length === 0; // (3)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      times: { type: "string", default: "10" },
      loaded: { type: "string", default: "2" },
      file: { type: "string", default: inRoot(".cache/repeat.jsonl") },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const [times, loaded] = [Number(values.times), Number(values.loaded)];
  if (!Number.isInteger(times) || times < 1 || !Number.isInteger(loaded) || loaded < 0 || loaded > times) {
    process.stderr.write("--times: a whole number from 1; --loaded: from 0 to --times\n");
    return 2;
  }
  const file = resolve(values.file);
  const commit = git("rev-parse", "HEAD");
  const earlier = rowsOf(file).filter((row) => row.commit === commit); // (2)
  if (earlier.length > 0) say(`continuing after ${earlier.length} runs of ${commit.slice(0, 9)}`);
  const rows = [...earlier];
  const folder = mkdtempSync(join(tmpdir(), "fairlead-repeat-"));
  try {
    if (rows.length < times) git("clone", "--quiet", inRoot("."), join(folder, "clone")); // (1)
    while (rows.length < times) {
      const row = await runOnce(join(folder, "clone"), commit, rows.length >= times - loaded);
      mkdirSync(dirname(file), { recursive: true });
      appendFileSync(file, `${JSON.stringify(row)}\n`);
      rows.push(row);
      say(`run ${rows.length} of ${times}${row.loaded ? ", loaded" : ""}: ${tell(row)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const green = rows.filter((row) => isGreen(row)).length;
  say(`${green} of ${rows.length} runs of ${commit.slice(0, 9)} are green; rows in ${file}`);
  return green === rows.length ? 0 : 1;
}

async function runOnce(clone: string, commit: string, loaded: boolean): Promise<Row> {
  const before = whatIsThere(clone);
  const load = loaded ? keepCoresBusy() : [];
  const began = performance.now();
  const began_at = new Date().toISOString();
  try {
    const { code, output } = await npmTest(clone);
    return {
      commit,
      began_at,
      loaded,
      seconds: Math.round((performance.now() - began) / 1000),
      exit_code: code,
      counts: output.trimEnd().split("\n").at(-1) ?? "",
      left_behind: leftBehind(before, whatIsThere(clone)),
    };
  } finally {
    for (const child of load) child.kill("SIGKILL");
  }
}

function npmTest(clone: string): Promise<{ code: number; output: string }> {
  const child = spawn("npm", ["test", "--silent"], {
    cwd: clone,
    env: { ...process.env, CI: "true" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output = `${output}${chunk.toString()}`.slice(-100_000);
    process.stdout.write(chunk);
  });
  return new Promise((done, reject) => {
    child.once("error", reject);
    child.once("close", (code) => done({ code: code ?? 1, output }));
  });
}

const keepCoresBusy = () =>
  Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );

const rowsOf = (file: string): Row[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => Row.parse(JSON.parse(line)))
    : [];

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: inRoot("."), encoding: "utf8" }).trim();

const tell = ({ seconds, counts, exit_code, left_behind }: Row): string =>
  `${seconds} s, exit ${exit_code}, ${counts}${left_behind.length > 0 ? `, left behind: ${left_behind.join("; ")}` : ""}`;

function say(text: string): void {
  process.stderr.write(`repeat: ${text}\n`);
}

process.exitCode = await main();
