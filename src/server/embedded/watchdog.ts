/**
 * A process of its own that reads which programs we run, one JSON list per line, until its input ends. It ends when we
 * do, however we do, SIGKILL included; what was on the last list is then ended by identity.
 */
import { createInterface } from "node:readline";
import { z } from "zod";
import { ProcessIdentity, stopProcess } from "../../host/process-identity.ts";

const GRACE_MS = 1_500;
const Watched = z.array(ProcessIdentity);

let watched: z.infer<typeof Watched> = [];
for await (const line of createInterface({ input: process.stdin })) watched = Watched.parse(JSON.parse(line));
await Promise.all(watched.map(async (identity) => stopProcess(identity, { graceMs: GRACE_MS })));
