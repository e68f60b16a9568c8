/** What operators declare, and what a real node then may do: the CLI on a real site. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../../src/core/error-codes.ts";
import type { NodeId } from "../../../../src/core/ids.ts";
import type { ScopeType } from "../../../../src/core/snapshot/scopes.ts";
import type { Database } from "../../../../src/server/db/database.ts";
import { publishBadlySigned } from "../../../support/lab/bad-signature.ts";
import { openLabDatabase } from "../../../support/lab/database.ts";
import { eventually } from "../../../support/lab/eventually.ts";
import type { Lab } from "../../../support/lab/lab.ts";
import { addRunningNodes } from "../../../support/lab/node.ts";
import type { Ran } from "../../../support/cli.ts";

const NAME = "authority-1";
const ROUTE = (network: string) =>
  JSON.stringify({
    kind: "route",
    organization: "acme",
    body: { destinations: [network], via: "mesh", ttl_ms: 60_000 },
  });
const NIGHT = `# What a node may do alone at night.
kind: degraded_mode
roles: [egress_service]
body:
  allowed: [continue_services, preserve_routes]
  offline_max_ms: 14400000
  route_ttl_ms: 600000
  session_ttl_ms: 600000
  when_partitioned: continue
`;

export function authority(lab: () => Lab): void {
  describe("what a node may do by its snapshots", () => {
    let db: Database;
    let id: NodeId;
    const fairlead = (...argv: string[]): Promise<Ran> => lab().operator.fairlead(...argv);
    const file = (name: string): string => join(lab().folder, name);

    async function done(...argv: string[]): Promise<string> {
      const ran = await fairlead(...argv);
      expect([argv, ran.code, ran.err]).toEqual([argv, 0, ran.err]);
      return ran.out;
    }

    /** Until everything that was declared is compiled, published and applied. */
    const settled = () =>
      eventually("the node holds all that was published", async () => {
        const waiting = await db`select 1 from snapshot_dirty where node_id = ${id} limit 1`;
        const rows = await db<{ scope_type: ScopeType; config_version: number }[]>`
          select scope_type, config_version from snapshots where node_id = ${id}`;
        const { applied } = await lab().operator.node(NAME);
        const held = rows.every((row) => applied[row.scope_type]?.version === row.config_version);
        return waiting.length === 0 && held && applied;
      });

    beforeAll(async () => {
      await addRunningNodes(lab(), [{ name: NAME, profile: "authority" }]);
      id = (await lab().operator.node(NAME)).id;
      db = await openLabDatabase(lab());
    }, 120_000);
    afterAll(() => db.end());

    test("SNAP-3: what is declared by the CLI reaches the node as signed snapshots, and explain says it in words", async () => {
      const night = file("night.yaml");
      await writeFile(night, NIGHT);
      await done("model", "set", "organization", "acme");
      await done("node", "set", NAME, "--organizations", "acme");
      await done("model", "set", "policy", "night", "--file", night);
      await done("model", "set", "policy", "out", "--json-body", ROUTE("10.1.0.0/16"));
      await done(
        "model",
        "set",
        "secret-ref",
        "db",
        "--json-body",
        '{"organization":"acme","ref":"secret://vault/acme/db"}',
      );
      await done(
        "model",
        "set",
        "service",
        "web",
        "--json-body",
        `{"organization":"acme","secret_refs":["db"],"nodes":["${NAME}"]}`,
      );
      expect(await done("model", "list", "service")).toMatch(/web +acme +\S+ ago +on 1 node/);
      await settled();
      const said = await done("snapshot", "explain", NAME);
      expect(said).toContain("may start again what it last ran, also on authority that has expired");
      expect(said).toContain("may send to 10.1.0.0/16 by way of mesh, for 1 min at a time (policy out)");
      expect(said).toContain("serves web with secret://vault/acme/db");
      expect(said).toContain("roles egress_service; organizations acme");
      expect(said).toContain("expires in 6 d");
    });

    test("USE-2: list, show, diff and verify speak of the same snapshot", async () => {
      await done("model", "set", "policy", "out", "--json-body", ROUTE("10.2.0.0/16"));
      await settled();
      const difference = await done("snapshot", "diff", NAME, "route_policy");
      expect(difference).toMatch(/^- .*10\.1\.0\.0\/16"$/m);
      expect(difference).toMatch(/^\+ .*10\.2\.0\.0\/16"$/m);
      const diff = (await fairlead("snapshot", "diff", NAME, "route_policy", "--json")).json<{
        operations: { op: string }[];
      }>();
      expect(diff.operations.map(({ op }) => op)).toEqual(["replace"]);
      expect(await done("snapshot", "show", NAME, "route_policy")).toContain("- 10.2.0.0/16");
      expect(await done("snapshot", "list", NAME)).toMatch(/^route_policy +in force +/m);
      expect(await done("snapshot", "list")).toContain(NAME);
      const [frame, bundle] = [file("route.frame"), file("bundle.frame")];
      await done("snapshot", "show", NAME, "route_policy", "--frame", "--out", frame);
      await done("snapshot", "show", NAME, "trust_bundle", "--frame", "--out", bundle);
      const verify = ["snapshot", "verify", frame, "--bundle", bundle, "--node"];
      expect(await done(...verify, id)).toContain("accepted: route_policy");
      const bytes = await readFile(frame);
      bytes[60]! ^= 1;
      await writeFile(frame, bytes);
      expect((await fairlead(...verify, id)).code).toBe(8);
    });

    test("SNAP-10: a permission that is taken back by the CLI is gone from what the node may do, and comes back", async () => {
      const add = [
        "revocation",
        "add",
        "degraded_permission",
        "continue_services",
        "--node",
        NAME,
        "--reason",
        "a look",
      ];
      const { seq } = (await fairlead(...add, "--json")).json<{ seq: number }>();
      expect(await done("revocation", "list")).toMatch(
        /degraded_permission +continue_services +authority-1 .*a look/,
      );
      const may = "may start again what it last ran";
      await settled();
      const without = await done("snapshot", "explain", NAME);
      expect(without).not.toContain(may);
      expect(without).toContain("degraded_permission continue_services: a look; given back by");
      await done("revocation", "lift", String(seq));
      await settled();
      expect(await done("snapshot", "explain", NAME)).toContain(may);
    });

    test("SNAP-19: a snapshot with a bad signature is rejected, and explain names the check, the field and what to do", async () => {
      const before = (await settled()).route_policy!.version;
      const next = await publishBadlySigned(db, NAME, "route_policy");
      await eventually("the rejection is told", async () => {
        const { last_rejection } = await lab().operator.node(NAME);
        return last_rejection?.scope === "route_policy";
      });
      const said = await done("snapshot", "explain", NAME);
      expect(said).toContain(
        `REJECTED version ${next} (epoch 1) at check 5 of 12, "the signatures verify": SNAPSHOT_SIGNATURE_INVALID`,
      );
      expect(said).toContain("field: signature");
      expect(said).toContain(`what to do: ${ERROR_CODES.SNAPSHOT_SIGNATURE_INVALID.next}`);
      expect(said).toContain(`version ${before} (epoch 1) stays in force meanwhile`);
      expect(said).toContain("may send to 10.2.0.0/16"); // what it had is still what it may do
      expect(await done("snapshot", "list", "--attention")).toContain(
        "route_policy SNAPSHOT_SIGNATURE_INVALID",
      );
    });
  });
}
