/** A control plane on embedded parts, initialised with keys that are made for this run alone. */
import { join } from "node:path";
import { z } from "zod";
import { sleep } from "../host/clock.ts";
import { createHttpClient } from "../host/bounded-http.ts";
import { FairleadError } from "../core/errors.ts";
import { ensureDirectory } from "../host/files.ts";
import type { Children } from "./children.ts";
import { commandEnv, FAIRLEAD, fairlead, NODE } from "./command.ts";

const Listening = z.object({
  url: z.string(),
  agent_url: z.string(),
  enroll_url: z.string(),
  first_run_secret_file: z.string(),
});

export interface Site {
  readonly url: string;
  readonly enrollUrl: string;
  readonly configDir: string;
}

export async function startSite(children: Children, folder: string, home: string): Promise<Site> {
  const dataDir = join(folder, "server");
  const configDir = join(folder, "manifests");
  await ensureDirectory(configDir, 0o700);
  const flags = ["--embedded", "--ephemeral", "--data-dir", dataDir, "--config-dir", configDir];
  const ports = ["--listen", "--agent-listen", "--enroll-listen"].flatMap((flag) => [flag, "127.0.0.1:0"]);
  const said = await children.startAndRead("server", NODE, [FAIRLEAD, "server", ...flags, ...ports], {
    env: commandEnv(home),
  });
  const { url, enroll_url, first_run_secret_file } = Listening.parse(said);
  const keys = ["--keys-dir", join(folder, "keys"), "--demo"];
  await fairlead(home, ["init", "--server", url, "--first-run-secret-file", first_run_secret_file, ...keys]);
  await untilReady(url);
  return { url, enrollUrl: enroll_url, configDir };
}

async function untilReady(url: string): Promise<void> {
  const client = createHttpClient({ origin: url });
  const until = performance.now() + 30_000;
  try {
    for (;;) {
      const { status, body } = await client.request("/readyz");
      if (status === 200) return;
      if (performance.now() > until)
        throw new FairleadError("NOT_READY", `not ready: ${body.toString("utf8").slice(0, 300)}`);
      await sleep(50);
    }
  } finally {
    client.close();
  }
}
