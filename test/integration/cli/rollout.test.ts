import { appendFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PROFILE, startSite, type CliSite } from "./site.ts";

let site: CliSite;
let v2: { url: string; checksum: string };
let manifest: string;

interface Rollout {
  readonly id: string;
  readonly status: string;
  readonly counters: { readonly total: number; readonly succeeded: number };
}
interface Failure {
  readonly error: { readonly code: string; readonly next: string };
}

const manifestText = (id: string, version: string, checksum: string, url: string): string =>
  `upgrade_id: ${id}\nchain_profile_id: ${PROFILE}\nbinary_name: hello\ntarget_version: ${version}\ntarget_url: ${url}\ntarget_checksum: "${checksum}"\n`;
const policy = (source: string): string[] => [
  "--type",
  "small",
  "--source-version",
  source,
  "--batch-size",
  "2",
  "--health-wait",
  "1s",
];
const create = (file: string, ...more: string[]) =>
  site.fairlead("rollout", "create", "--manifest", file, ...policy("1.0.0"), ...more);

beforeAll(async () => {
  site = await startSite();
  const { url, first_run_secret_file: secret } = site.listening;
  const keys = join(site.folder, "keys");
  const init = await site.command(
    "init",
    "--server",
    url,
    "--first-run-secret-file",
    secret,
    "--keys-dir",
    keys,
    "--demo",
  );
  expect(init.err).toBe("");
  for (const name of ["edge-1", "edge-2", "edge-3"]) await site.addAgent(name, "1.0.0");
  await site.agentsReady("1.0.0");
  v2 = site.publish("2.0.0");
  manifest = await site.putManifest("v2", manifestText("v2", "2.0.0", v2.checksum, v2.url));
});

afterAll(() => site.stop());

describe("the CLI on a real site (USE-2)", () => {
  test("whoami, console and node show speak of the site that init made", async () => {
    expect((await site.command("whoami", "--json")).json()).toMatchObject({
      scopes: ["admin"],
      intents_required: true,
    });
    expect((await site.command("console")).out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#code=/);
    const node = await site.command("node", "show", "edge-1");
    expect(node.out).toMatch(/version +1\.0\.0/);
    expect(node.out).toMatch(/applied +.*trust_bundle 1 \(epoch 1\)/);
    expect((await stat(join(site.folder, "home/contexts/default.json"))).mode & 0o777).toBe(0o600);
  });

  describe("creation rules on the server, each with its code and exit code, as text and as JSON (ROLL-3)", () => {
    async function expectRefusal(
      file: string,
      more: string[],
      code: string,
      exit: number,
      rule: string,
    ): Promise<void> {
      const text = await create(file, ...more);
      expect([text.code, text.out]).toEqual([exit, ""]);
      expect(text.err).toContain(`error ${code}: `);
      expect(text.err).toContain(`what to do: ${rule}`);
      const json = await create(file, ...more, "--json");
      expect(json.code).toBe(exit);
      expect(json.json<Failure>().error).toMatchObject({ code });
    }

    test("rule 1: no checksum is CHECKSUM_REQUIRED", async () => {
      const file = await site.putManifest("bare", manifestText("bare", "2.0.0", "", v2.url));
      await expectRefusal(file, ["--no-local-checks"], "CHECKSUM_REQUIRED", 3, "Rule 1");
      await expectRefusal(file, [], "CHECKSUM_REQUIRED", 3, "Rule 1");
    });

    test("rule 4: the same version again is VERSION_UNCHANGED", async () => {
      const file = await site.putManifest("same", manifestText("same", "1.0.0", v2.checksum, v2.url));
      await expectRefusal(file, ["--no-local-checks"], "VERSION_UNCHANGED", 3, "Rule 4");
      await expectRefusal(file, [], "VERSION_UNCHANGED", 3, "Rule 4");
    });

    test("rule 6: a manifest that differs from the server's is MANIFEST_HASH_MISMATCH", async () => {
      const file = await site.putManifest("other", manifestText("other", "2.0.0", v2.checksum, v2.url));
      await appendFile(file, "# a remark\n");
      await expectRefusal(file, [], "MANIFEST_HASH_MISMATCH", 3, "Rule 6");
    });

    test("without a signed intent it is INTENT_REQUIRED", async () => {
      await expectRefusal(manifest, ["--no-sign"], "INTENT_REQUIRED", 8, "Sign an intent");
    });

    test("rule 5: a second rollout of a profile is ROLLOUT_ACTIVE", async () => {
      const first = await create(manifest, "--json");
      expect(first.code).toBe(0);
      await expectRefusal(manifest, [], "ROLLOUT_ACTIVE", 4, "Rule 5");
      const { id } = first.json<Rollout>();
      const cancelled = await site.fairlead("rollout", "cancel", id.slice(0, 8), "--reason", "only a test");
      expect(cancelled.code).toBe(0);
      expect((await site.command("rollout", "wait", id, "--json")).code).toBe(1);
    });
  });

  test("create, start, watch and wait carry an upgrade from a manifest to running programs", async () => {
    expect(await site.running()).toEqual(["1.0.0", "1.0.0", "1.0.0"]);
    const created = await site.command(
      "rollout",
      "create",
      "--manifest",
      manifest,
      ...policy("1.0.0"),
      "--start",
    );
    expect(created.err).toContain("for 3 nodes: edge-1, edge-2, edge-3");
    const id = /^rollout ([0-9a-f-]{36}): /.exec(created.out)![1]!;
    const watched = await site.command("rollout", "watch", id.slice(0, 8));
    expect(watched.code).toBe(0);
    const lines = watched.out
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/^\S+Z /, ""));
    expect(lines[0]).toMatch(/^rollout created by /);
    const milestones = [
      "rollout pending → running",
      "batch 1 of 2 begins",
      "node edge-1 in_progress STOPPED stop_node",
      "node edge-3 succeeded",
      "batch 2 of 2 begins",
      "rollout running → completed",
    ];
    expect(milestones.filter((line) => !lines.includes(line))).toEqual([]);
    expect(lines.at(-1)).toBe(`rollout ${id} completed`);
    const waited = await site.command("rollout", "wait", id, "--json");
    expect(waited.code).toBe(0);
    expect(waited.json<Rollout>()).toMatchObject({
      id,
      status: "completed",
      counters: { total: 3, succeeded: 3 },
    });
    expect(await site.running()).toEqual(["2.0.0", "2.0.0", "2.0.0"]);
    expect((await site.command("rollout", "nodes", id)).out.match(/succeeded/g)).toHaveLength(3);
    expect((await site.command("rollout", "list")).out).toMatch(/completed +3\/3/);
  });

  test("typed words do without a manifest; pause, resume and their exit codes work", async () => {
    const v3 = site.publish("3.0.0");
    const words = [
      "--profile",
      PROFILE,
      "--binary-name",
      "hello",
      "--target-version",
      "3.0.0",
      "--url",
      v3.url,
      "--checksum",
      v3.checksum,
    ];
    const created = await site.fairlead(
      "rollout",
      "create",
      ...words,
      ...policy("2.0.0"),
      "--batch-size",
      "1",
      "--json",
    );
    expect(created.code).toBe(0);
    const { id } = created.json<Rollout>();
    const early = await site.fairlead("rollout", "resume", id, "--json");
    expect([early.code, early.json<Failure>().error.code]).toEqual([4, "ILLEGAL_TRANSITION"]);
    await site.fairlead("rollout", "start", id);
    expect((await site.fairlead("rollout", "wait", id, "--timeout", "50ms")).code).toBe(10);
    await site.fairlead("rollout", "pause", id, "--reason", "a look");
    const paused = await site.fairlead("rollout", "wait", id, "--for", "paused", "--json");
    expect([paused.code, paused.json<Rollout>().status]).toEqual([9, "paused"]);
    expect((await site.fairlead("rollout", "show", id)).out).toMatch(/why +PAUSED: /);
    await site.fairlead("rollout", "resume", id);
    expect((await site.fairlead("rollout", "wait", id)).code).toBe(0);
    expect(await site.running()).toEqual(["3.0.0", "3.0.0", "3.0.0"]);
  });

  test("ROLL-12, ROLL-14: a breaking canary waits for its approval, goes on, and goes all the way back", async () => {
    const v4 = site.publish("4.0.0");
    const breaking = "state_compatibility: { migration_type: breaking, recovery_plan: restore the volume }\n";
    const file = await site.putManifest(
      "v4",
      `${manifestText("v4", "4.0.0", v4.checksum, v4.url)}${breaking}`,
    );
    const how = ["--strategy", "canary", "--acknowledge-state-risk", "--start", "--json"];
    const created = await site.fairlead("rollout", "create", "--manifest", file, ...policy("3.0.0"), ...how);
    const { id } = created.json<Rollout>();
    expect((await site.fairlead("rollout", "wait", id, "--for", "paused")).code).toBe(9);
    const next = `fairlead rollout approve-canary ${id.slice(0, 8)}`;
    expect((await site.fairlead("rollout", "show", id)).out).toContain(next);
    const resumed = await site.fairlead("rollout", "resume", id, "--json");
    expect([resumed.code, resumed.json<Failure>().error.code]).toEqual([4, "CANARY_NOT_APPROVED"]);
    await site.fairlead("rollout", "approve-canary", id, "--reason", "blocks follow");
    expect((await site.fairlead("rollout", "wait", id)).code).toBe(0);
    expect(await site.running()).toEqual(["4.0.0", "4.0.0", "4.0.0"]);

    await site.fairlead("rollout", "rollback", id, "--reason", "4.0.0 leaks");
    const back = await site.fairlead("rollout", "wait", id, "--json");
    expect([back.code, back.json<Rollout>().status]).toEqual([1, "rolled_back"]);
    expect(await site.running()).toEqual(["3.0.0", "3.0.0", "3.0.0"]);
    const told = (await site.fairlead("rollout", "timeline", id, "edge-2")).out;
    expect(told).toMatch(/^way back in rollout .*: rolled back$/m);
    expect(told).toMatch(/^upgrade in rollout .*: succeeded$/m);
    expect(told.match(/✔ start_node/g)).toHaveLength(2);
  });

  test("on a terminal, watch draws the picture in place; on one without a size it prints lines", async () => {
    const listed = await site.fairlead("rollout", "list", "--status", "completed", "--limit", "1", "--json");
    const [newest] = listed.json<{ rollouts: Rollout[] }>().rollouts;
    const drawn = await site.onTerminal("rows 30 cols 100", "rollout", "watch", newest!.id);
    expect(drawn.code).toBe(0);
    expect(drawn.out).toContain("\u001b[");
    expect(drawn.out).toMatch(/3 nodes succeeded/);
    expect(drawn.out).toMatch(/█{30}\S* 3\/3 nodes upgraded {2}100%/);
    const line = await site.onTerminal("rows 0 cols 0", "rollout", "watch", newest!.id);
    expect(line.out).toMatch(/Z rollout running → completed\r?\n/);
  });

  test("node revoke refuses the node from then on", async () => {
    expect((await site.fairlead("node", "revoke", "edge-3", "--reason", "stolen")).code).toBe(0);
    expect((await site.fairlead("node", "show", "edge-3")).out).toMatch(/state +revoked/);
  });

  test("no secret stands in the files that the CLI may show, and the API key in its context only", async () => {
    const context = JSON.parse(await readFile(join(site.folder, "home/contexts/default.json"), "utf8")) as {
      api_key: string;
    };
    const shown = await site.fairlead("context", "show", "--json");
    expect(shown.out).not.toContain(context.api_key);
    expect(await readFile(join(site.folder, "home/tokens/default.json"), "utf8")).not.toContain(
      context.api_key,
    );
  });
});
