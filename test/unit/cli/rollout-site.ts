// A server that knows a few nodes, an operator with a release key, and a manifest: where rollouts are created.
import { generateKeyPairSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { NodeView } from "../../../src/core/protocol/operator-api.ts";
import { RolloutCreate } from "../../../src/core/rollout/create.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { generateSigner, signerFromPem } from "../../../src/trust/keys.ts";
import { nodeSample, ROLLOUT_ID, rolloutSample } from "./samples.ts";
import { homeFor, type refusal, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const { signer, pem } = generateSigner();
export const release = signer;
export const CHECKSUM = `sha256:${"5".repeat(64)}`;
export const NODES = [1, 2, 3].map((n) => nodeSample(n));
export const bundle = TrustBundle.parse({
  demo: false,
  intents_required: true,
  root: { threshold: 1, keys: [generateSigner().signer.record] },
  online_keys: [],
  release_keys: [
    {
      ...signer.record,
      valid_from: "2020-01-01T00:00:00.000Z",
      valid_until: "2999-01-01T00:00:00.000Z",
      name: "r",
      profiles: [],
    },
  ],
  publisher_keys: [],
  revoked_keys: [],
  recovery: null,
});
/** A release key of existing infrastructure, which only its record says how to use. */
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
export const rsaPem = rsa.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
export const rsaRelease = signerFromPem(rsaPem, () => "RS256");
const rsaKey = {
  ...rsaRelease.record,
  authority: "release",
  name: "hsm",
  scopes: [],
  profiles: [],
  valid_from: null,
  valid_until: null,
  state: "active",
  bundle_version: 1,
  retire_by: null,
  changed_at: "2026-01-01T00:00:00.000Z",
  changed_by: "key:boss",
  confirmed_by: 1,
  next: "",
};

export const time = { local: Date.now(), effective: Date.now() };

export const manifestText = (more = ""): string => `upgrade_id: v2
chain_profile_id: demo-http
binary_name: demo
target_version: 2.0.0
target_url: http://127.0.0.1:1/demo
target_checksum: ${CHECKSUM}
run:
  args: ["--port", "1"]
config_changes:
  - path: z.conf
    content: zed
  - path: a.conf
    mode: "0600"
    content: ay
${more}`;

export async function site(nodes: readonly NodeView[] = NODES, refuse?: ReturnType<typeof refusal>) {
  let looks = 0;
  const fixture = await serve(({ method, url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/keys") return { json: { keys: [rsaKey], nodes: nodes.length, bundle: null } };
    if (pathname === "/api/v1/nodes") return { json: { nodes, next_cursor: null } };
    if (pathname === "/api/v1/rollouts" && method === "POST")
      return refuse ?? { status: 201, json: rolloutSample({ status: "pending" }) };
    // As the server does: the signal is a row, and the drive applies it after the answer.
    if (pathname === `/api/v1/rollouts/${ROLLOUT_ID}/start`)
      return { status: 202, json: rolloutSample({ status: "pending" }) };
    if (pathname === `/api/v1/rollouts/${ROLLOUT_ID}`)
      return { json: rolloutSample({ status: ++looks < 3 ? "pending" : "running" }) };
    return undefined;
  });
  const folder = await temporaryFolder();
  const [key, manifest] = [join(folder, "release.pem"), join(folder, "v2.yaml")];
  await writeFile(key, pem);
  await writeFile(manifest, manifestText());
  const env = await homeFor(fixture.url, { release_key_file: key });
  const sent = () => {
    const post = fixture.asked.find(
      ({ method, url }) => method === "POST" && url.pathname === "/api/v1/rollouts",
    );
    return post === undefined ? undefined : RolloutCreate.parse(post.body);
  };
  return { ...fixture, env, key, manifest, sent };
}

export const BASE = ["rollout", "create", "--type", "small", "--source-version", "1.0.0"];
export const typed = (checksum = CHECKSUM, target = "2.0.0") => [
  ...BASE,
  `--profile=demo-http`,
  `--binary-name=demo`,
  `--target-version=${target}`,
  `--url=http://127.0.0.1:1/demo`,
  `--checksum=${checksum}`,
];
