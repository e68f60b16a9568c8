import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { SCOPES } from "../../../src/core/snapshot/scopes.ts";
import { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { generateSigner, signerFromPem } from "../../../src/trust/keys.ts";
import { rootPinOf, parseToken } from "../../../src/trust/pins.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { fairlead, PINS, refusal, serve, temporaryFolder, TOKEN_ANSWER, type Asked } from "./support.ts";
import { uuid } from "./samples.ts";

const online = generateSigner().signer.record;
const SECRET = "first-run-0123456789";
const API_KEY = "flk_first_admin_key";

const newSite = (upload?: (asked: Asked) => ReturnType<typeof refusal> | undefined) =>
  serve((asked) => {
    const { pathname } = asked.url;
    const { cluster_id, ca_pin, enroll_url } = PINS;
    if (pathname === "/api/v1/bootstrap") {
      const { first_run_secret } = asked.body as { first_run_secret: string };
      if (first_run_secret !== SECRET) return refusal(403, "FIRST_RUN_SECRET_WRONG", "not the secret");
      return { json: { cluster_id, online_key: online, ca_pin, enroll_url } };
    }
    if (pathname === "/api/v1/bootstrap/trust-bundle")
      return upload?.(asked) ?? { json: { api_key: API_KEY } };
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname !== "/api/v1/enrollment-tokens") return undefined;
    return { json: { node_id: uuid(1), secret: "s".repeat(43), expires_at: "2026-01-02T00:00:00.000Z" } };
  });

async function init(url: string, more: readonly string[] = [], secret = SECRET) {
  const home = await temporaryFolder();
  const secretFile = join(home, "first-run-secret");
  await writeFile(secretFile, `${secret}\n`);
  const [env, keys] = [{ FAIRLEAD_HOME: join(home, "config") }, join(home, "keys")];
  const words = ["init", "--server", url, "--first-run-secret-file", secretFile, "--keys-dir", keys, ...more];
  return { env, keys, words, ran: await fairlead(words, { env }) };
}

function bundleIn(asked: readonly Asked[]) {
  const upload = asked.find(({ url }) => url.pathname.endsWith("/trust-bundle"))!;
  const frame = Buffer.from((upload.body as { trust_bundle: string }).trust_bundle, "base64");
  const bundle = TrustBundle.parse(JSON.parse(decodeFrame(frame).content.toString("utf8")));
  const verify = (root = bundle.root) =>
    verifySnapshot(frame, {
      clusterId: PINS.cluster_id,
      nodeId: NodeId.parse(uuid(9)),
      roles: ["thin"],
      organizationIds: [],
      epoch: null,
      root,
      bundle: null,
      accepted: () => null,
      time: { local: Date.now() - 60_000, effective: Date.now() },
    });
  return { frame, bundle, verify };
}

describe("fairlead init (USE-2, SNAP-15)", () => {
  test("uploads a trust bundle that a node accepts, signed by the root it made", async () => {
    const { url, asked } = await newSite();
    const { ran, keys } = await init(url);
    expect(ran).toMatchObject({ code: 0, err: "" });
    const { bundle, verify } = bundleIn(asked);
    expect(verify()).toMatchObject({
      kind: "accepted",
      header: { config_version: 1, authority_epoch: 1, subject_node_id: "shared" },
    });
    expect(bundle).toMatchObject({ demo: false, intents_required: true });
    expect(bundle.online_keys[0]!.scopes).toEqual(
      Object.entries(SCOPES)
        .filter(([, { signer }]) => signer === "online")
        .map(([scope]) => scope),
    );
    const pem = async (name: string) => signerFromPem(await readFile(join(keys, name), "utf8")).record.key_id;
    expect(bundle.root.keys.map((key) => key.key_id)).toEqual([await pem("root-1.pem")]);
    expect(bundle.release_keys.map((key) => key.key_id)).toEqual([await pem("release.pem")]);
  });

  test("a node with another root refuses that bundle", async () => {
    const { url, asked } = await newSite();
    await init(url);
    const other = { threshold: 1, keys: [generateSigner().signer.record] };
    expect(bundleIn(asked).verify(other)).toMatchObject({ kind: "rejected", code: "SNAPSHOT_KEY_UNTRUSTED" });
  });

  test("two of three root keys sign when two are asked for, and one alone is too few", async () => {
    const { url, asked } = await newSite();
    const { keys } = await init(url, [
      "--root-keys",
      "3",
      "--root-threshold",
      "2",
      "--demo",
      "--no-require-intents",
    ]);
    const { frame, bundle, verify } = bundleIn(asked);
    expect(decodeFrame(frame).signatures).toHaveLength(2);
    expect(bundle).toMatchObject({ demo: true, intents_required: false, root: { threshold: 2 } });
    expect(verify()).toMatchObject({ kind: "accepted" });
    expect(verify({ ...bundle.root, threshold: 3 })).toMatchObject({ code: "SNAPSHOT_SIGNATURE_INVALID" });
    expect(await readdir(keys)).toEqual(["release.pem", "root-1.pem", "root-2.pem", "root-3.pem"]);
  });

  test("keys are 0600, the first API key goes into the context only, and no private key is sent", async () => {
    const { url, asked } = await newSite();
    const { ran, env, keys } = await init(url, ["--json"]);
    for (const name of await readdir(keys)) expect((await stat(join(keys, name))).mode & 0o777).toBe(0o600);
    expect((await stat(keys)).mode & 0o777).toBe(0o700);
    expect(ran.out).not.toContain(API_KEY);
    expect(ran.json()).toMatchObject({
      ...PINS,
      root_pin: rootPinOf(bundleIn(asked).bundle.root),
      context: "default",
    });
    expect(await readFile(join(env.FAIRLEAD_HOME, "contexts/default.json"), "utf8")).toContain(API_KEY);
    expect(JSON.stringify(asked)).not.toContain("PRIVATE");
  });

  test("nothing is overwritten: neither a key nor a context", async () => {
    const { url, asked } = await newSite();
    const { env, keys, words } = await init(url);
    const before = await readFile(join(keys, "root-1.pem"), "utf8");
    const context = await fairlead(words, { env });
    expect(context).toMatchObject({ code: 3 });
    expect(context.err).toContain("context default exists already");
    const keysThere = await fairlead([...words, "--context", "second"], { env });
    expect(keysThere.err).toMatch(/--keys-dir: .*release.pem exists already/);
    expect(await readFile(join(keys, "root-1.pem"), "utf8")).toBe(before);
    expect(asked).toHaveLength(2);
  });

  test("a wrong first-run secret, or a refused bundle, leaves no key and no context", async () => {
    const { url } = await newSite(() => refusal(409, "ALREADY_INITIALIZED", "has a bundle"));
    const wrong = await init(url, [], "wrong-secret-000000");
    expect(wrong.ran.code).toBe(6);
    await expect(readdir(wrong.keys)).rejects.toThrow("ENOENT");
    const refused = await init(url);
    expect(refused.ran.code).toBe(4);
    expect(await readdir(refused.keys)).toEqual([]);
    await expect(readdir(refused.env.FAIRLEAD_HOME)).rejects.toThrow("ENOENT");
  });

  test("an upload without an answer keeps the keys and says so", async () => {
    const { url } = await serve(({ url: { pathname } }) => {
      const { cluster_id, ca_pin, enroll_url } = PINS;
      if (pathname === "/api/v1/bootstrap")
        return { json: { cluster_id, online_key: online, ca_pin, enroll_url } };
      return (response) => response.destroy();
    });
    const { ran, keys } = await init(url);
    expect(ran.code).toBe(7);
    expect(ran.err).toContain(`the keys in ${keys} are kept`);
    expect(await readdir(keys)).toHaveLength(2);
  });

  test("an online key whose id is not the hash of its bytes is never signed", async () => {
    const { url, asked } = await serve(({ url: { pathname } }) => {
      const { cluster_id, ca_pin, enroll_url } = PINS;
      const forged = { ...online, key_id: "0".repeat(64) };
      return pathname === "/api/v1/bootstrap"
        ? { json: { cluster_id, online_key: forged, ca_pin, enroll_url } }
        : undefined;
    });
    const { ran, keys } = await init(url);
    expect(ran.err).toMatch(/error BUNDLE_REFUSED: online_keys/);
    expect(asked).toHaveLength(1);
    expect(await readdir(keys)).toEqual([]);
  });

  test.each([
    [["--root-keys", "2", "--root-threshold", "3"], "--root-threshold"],
    [["--root-keys", "0"], "--root-keys"],
    [["--valid-days", "0"], "--valid-days"],
  ])("impossible wishes %j are refused before the server is asked", async (more, flag) => {
    const { url, asked } = await newSite();
    const { ran } = await init(url, more);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(flag);
    expect(asked).toEqual([]);
  });

  test("a folder that cannot be written to is an error with its path", async () => {
    const { url } = await newSite();
    const file = join(await temporaryFolder(), "file");
    await writeFile(file, "");
    const { ran } = await init(url, ["--keys-dir", join(file, "keys")]);
    expect(ran.code).toBe(3);
    expect(ran.err).toContain(join(file, "keys"));
    expect(ran.err).not.toMatch(/at .*\.ts/);
  });
});

describe("fairlead node token (USE-2)", () => {
  test("is composed of the context's pins, whatever the server says now", async () => {
    const { url, asked } = await newSite();
    const { env } = await init(url);
    const words = [
      "node",
      "token",
      "--name",
      "n1",
      "--profile",
      "p",
      "--type",
      "t",
      "--label",
      "zone=a=b",
      "--role",
      "thin",
    ];
    const ran = await fairlead([...words, "--expires", "1h"], { env });
    expect(ran.code).toBe(0);
    expect(parseToken(ran.out)).toEqual({
      clusterId: PINS.cluster_id,
      caPin: PINS.ca_pin,
      rootPin: rootPinOf(bundleIn(asked).bundle.root),
      minBundleVersion: 1,
      secret: "s".repeat(43),
    });
    expect(asked.at(-1)!.body).toEqual({
      name: "n1",
      chain_profile_ids: ["p"],
      node_type: "t",
      labels: { zone: "a=b" },
      roles: ["thin"],
      expires_in_seconds: 3600,
    });
  });

  test("--out writes it 0600, once, and prints it nowhere", async () => {
    const { url } = await newSite();
    const { env } = await init(url);
    const out = join(await temporaryFolder(), "n1.token");
    const words = ["node", "token", "--name", "n1", "--profile", "p", "--type", "t", "--out", out, "--json"];
    const ran = await fairlead(words, { env });
    expect(ran.out).not.toContain("fl1.");
    expect(ran.json()).toMatchObject({ token_file: out, node_id: uuid(1) });
    expect(parseToken(await readFile(out, "utf8")).caPin).toBe(PINS.ca_pin);
    expect((await stat(out)).mode & 0o777).toBe(0o600);
    expect((await fairlead(words, { env })).json()).toMatchObject({ error: { code: "INVALID_INPUT" } });
  });
});
