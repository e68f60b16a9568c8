// What a node is sent: the very frame that its poll answers with, opened as bytes.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { CommandHeader, UpgradePayload } from "../../../src/core/protocol/command.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { findCommands } from "../../../src/server/agents/waiting.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { manualRequest, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const CONTENT = "level = 2 # what only the file itself holds\n";
const URL_OF_BYTES = "https://dl.example/web";

let here: DrivenSite;
let header: Record<string, unknown>;
let payload: Record<string, unknown>;
let text: string;

beforeAll(async () => {
  here = await startDrivenSite();
  const nodeId: NodeId = await here.addNode("n1", { profile: "commands" });
  const request = manualRequest({
    chain_profile_id: "commands",
    target_binary_url: URL_OF_BYTES,
    run: { args: ["--port", "80"], env: { LEVEL: "2" }, user: "web" },
    config_files: [{ path: "app.toml", mode: "0640", content: CONTENT }],
  });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  const sent = (await findCommands(here.db, [{ nodeId, mark: 0, serials: {} }])).get(nodeId)!;
  expect(sent).toHaveLength(1);
  const frame = decodeFrame(Buffer.from(sent[0]!.delivery.command, "base64"));
  text = frame.content.toString("utf8");
  header = JSON.parse(frame.header.toString("utf8")) as typeof header;
  payload = JSON.parse(text) as typeof payload;
});
afterAll(() => here.stop());

test("ROLL-10: a delivered command is of type 9 and holds references only", () => {
  expect(header["command_type"]).toBe(9);
  expect(payload).toEqual({
    upgrade_id: null,
    artifact: { name: "web", version: "2.0.0", fingerprint: V2, url: URL_OF_BYTES },
    run: { args: ["--port", "80"], env: { LEVEL: "2" }, user: "web" },
    configs: [{ path: "app.toml", mode: "0640", sha256: digestOf(Buffer.from(CONTENT)) }],
  });
  expect(text).not.toContain("what only the file itself holds");
  expect(text).not.toContain(Buffer.from(CONTENT).toString("base64").slice(0, 24));
});

test("ROLL-10: bytes, instructions or anything else beside the references is refused, wherever it stands", () => {
  expect(UpgradePayload.safeParse(payload).success).toBe(true);
  const parts = payload as Record<"artifact" | "run", object> & { configs: object[] };
  const [config] = parts.configs;
  const others = [
    { ...payload, config_files: [{ path: "app.toml", content: CONTENT }] },
    { ...payload, actions: ["stop_node"] },
    { ...payload, artifact: { ...parts.artifact, bytes: "AAAA" } },
    { ...payload, run: { ...parts.run, shell: "true" } },
    { ...payload, configs: [{ ...config, content: CONTENT }] },
  ];
  for (const other of others) expect(UpgradePayload.safeParse(other).success).toBe(false);
  expect(CommandHeader.safeParse(header).success).toBe(true);
  for (const other of [
    { ...header, command_type: 8 },
    { ...header, payload: "AAAA" },
  ])
    expect(CommandHeader.safeParse(other).success).toBe(false);
});
