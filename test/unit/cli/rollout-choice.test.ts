import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { digestOf } from "../../../src/trust/digest.ts";
import { verifyIntent } from "../../../src/trust/intent.ts";
import { nodesTree } from "../../../src/trust/merkle.ts";
import { BASE, bundle, manifestText, NODES, site, time, typed } from "./rollout-site.ts";
import { nodeSample, ROLLOUT_ID, rolloutSample, upgradeSample, uuid } from "./samples.ts";
import { fairlead, homeFor, serve, TOKEN_ANSWER } from "./support.ts";

describe("how a rollout is to be done (ROLL-12, USE-2)", () => {
  test("flags become the request's fields", async () => {
    const { env, sent } = await site();
    const words =
      "--strategy canary --canary-size 2 --max-unavailable zone=1 --force-continue --acknowledge-state-risk";
    expect((await fairlead([...typed(), ...words.split(" "), "--runtime", "systemd"], { env })).code).toBe(0);
    expect(sent()).toMatchObject({
      runtime: "systemd",
      strategy: "canary",
      canary_size: 2,
      force_continue: true,
      skip_validation: false,
      acknowledge_state_risk: true,
      max_unavailable: { label: "zone", count: 1 },
      node_labels: {},
    });
  });

  test("--label takes only nodes that have all of them", async () => {
    const zones = ["a", "b", "a"].map((zone, n) =>
      nodeSample(n + 1, { labels: { zone, tier: n === 2 ? "x" : "y" } }),
    );
    const { env, sent } = await site(zones);
    await fairlead([...typed(), "--label", "zone=a", "--label", "tier=x"], { env });
    expect(sent()).toMatchObject({ node_ids: [uuid(3)], node_labels: { zone: "a", tier: "x" } });
  });

  test.each([
    [["--canary-size", "2"], 3, "canary_size goes with strategy canary, not with rolling"],
    [["--skip-validation"], 3, "skip_validation goes with strategy all_at_once, not with rolling"],
    [
      ["--strategy", "all_at_once", "--max-unavailable", "zone=1"],
      3,
      "max_unavailable goes with strategy rolling",
    ],
    [["--max-unavailable", "zone"], 2, "--max-unavailable: a label and a number, such as zone=1"],
    [["--max-unavailable", "zone=0"], 2, "--max-unavailable: a label and a number"],
    [["--canary-size", "0"], 2, "--canary-size: "],
    [["--strategy", "yolo"], 2, "Allowed choices are rolling, canary, all_at_once"],
    [["--label", "zone"], 2, "--label: of the form key=value"],
    [["--templates", "x"], 2, "--templates goes with --manifest"],
  ])("%j is refused before anything is sent", async (words, exit, message) => {
    const { env, sent } = await site();
    const ran = await fairlead([...typed(), ...words], { env });
    expect(ran.code).toBe(exit);
    expect(ran.err).toContain(message);
    expect(sent()).toBeUndefined();
  });

  test("a breaking migration needs canary, plan and acknowledgement, and is told what it lacks", async () => {
    const { env, manifest, sent } = await site();
    const text = manifestText("state_compatibility: { migration_type: breaking, recovery_plan: restore }\n");
    await writeFile(manifest, text);
    const lacking = await fairlead([...BASE, "--manifest", manifest], { env });
    expect(lacking.err).toContain(
      "a breaking migration lacks strategy: canary, acknowledge_state_risk: true",
    );
    const whole = ["--strategy", "canary", "--acknowledge-state-risk"];
    expect((await fairlead([...BASE, "--manifest", manifest, ...whole], { env })).code).toBe(0);
    expect(sent()).toMatchObject({ strategy: "canary", acknowledge_state_risk: true });
  });
});

describe("config files that differ from node to node (ROLL-17)", () => {
  const templated = manifestText("  - path: n.conf\n    template: n.liquid\n    variables: { port: 80 }\n");

  test("the intent names each node's own files, rendered here from the operator's templates", async () => {
    const { env, manifest, sent } = await site();
    await writeFile(manifest, templated);
    const templates = join(dirname(manifest), "t");
    await mkdir(templates);
    await writeFile(join(templates, "n.liquid"), "{{ node.name }}:{{ port }}\n");
    const ran = await fairlead([...BASE, "--manifest", manifest, "--templates", templates], { env });
    expect(ran.err).toContain("for 3 nodes");
    const leaves = NODES.map(({ id, name }) => ({
      node_id: id,
      configs: [
        { path: "a.conf", mode: "0600", sha256: digestOf("ay") },
        { path: "n.conf", mode: "0644", sha256: digestOf(`${name}:80\n`) },
        { path: "z.conf", mode: "0644", sha256: digestOf("zed") },
      ],
    }));
    const { root } = nodesTree(leaves);
    expect(sent()!.nodes_root).toBe(root);
    expect(verifyIntent(Buffer.from(sent()!.intent!, "base64"), bundle, time).intent.nodes_root).toBe(root);
  });

  test("a resume under a new intent names the same files again, for the rollout's own nodes", async () => {
    const { key, manifest } = await site();
    await writeFile(manifest, templated);
    const templates = join(dirname(manifest), "t");
    await mkdir(templates);
    await writeFile(
      join(templates, "n.liquid"),
      "{{ node.name }} from {{ upgrade.source_version }} {{ port }}\n",
    );
    const { url, asked } = await serve(({ url: { pathname } }) => {
      if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
      if (pathname === "/api/v1/nodes") return { json: { nodes: NODES, next_cursor: null } };
      if (pathname === `/api/v1/rollouts/${ROLLOUT_ID}/nodes`)
        return { json: { nodes: [1, 2].map((n) => upgradeSample(n)), next_cursor: null } };
      return pathname.startsWith(`/api/v1/rollouts/${ROLLOUT_ID}`) ? { json: rolloutSample() } : undefined;
    });
    const env = await homeFor(url, { release_key_file: key });
    const words = ["rollout", "resume", ROLLOUT_ID, "--manifest", manifest, "--templates", templates];
    expect((await fairlead(words, { env })).code).toBe(0);
    const { intent: signed } = asked.at(-1)!.body as { intent: string };
    const leaves = [1, 2].map((n) => ({
      node_id: NODES[n - 1]!.id,
      configs: [
        { path: "a.conf", mode: "0600", sha256: digestOf("ay") },
        { path: "n.conf", mode: "0644", sha256: digestOf(`node-${n} from 1.0.0 80\n`) },
        { path: "z.conf", mode: "0644", sha256: digestOf("zed") },
      ],
    }));
    const { intent } = verifyIntent(Buffer.from(signed, "base64"), bundle, time);
    expect(intent.nodes_root).toBe(nodesTree(leaves).root);
  });

  test("a template that is missing or wrong is told before anything is signed", async () => {
    const { env, manifest, sent } = await site();
    await writeFile(manifest, templated);
    const missing = await fairlead([...BASE, "--manifest", manifest], { env });
    expect([missing.code, missing.err]).toEqual([3, expect.stringContaining("error TEMPLATE_NOT_FOUND: ")]);
    expect(missing.err).toContain(`${manifest}:16:15: no template n.liquid under templates/`);
    const templates = join(dirname(manifest), "t");
    await mkdir(templates);
    await writeFile(join(templates, "n.liquid"), "{{ node.labels.rack }}");
    const wrong = await fairlead([...BASE, "--manifest", manifest, "--templates", templates], { env });
    expect(wrong.err).toContain("t/n.liquid:1:4: undefined variable: node.labels.rack (for node node-1)");
    expect(wrong.err).not.toContain("signing with");
    expect(sent()).toBeUndefined();
  });
});
