/**
 * Full snapshots and increments of a scope reach a node in any order, twice, or not at all (SNAP-6, SNAP-12). The node's
 * rule is small: apply what verifies, ask for a full one where a base does not match. Whatever came, it holds exactly
 * the content that was signed for the version it reports, never a mixture; and once the newest full one arrives, that.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOfJson } from "../../../src/trust/digest.ts";
import type { Json } from "../../../src/core/json.ts";
import {
  signIncrement,
  verifyIncrement,
  verifyStored,
  type ActiveContent,
} from "../../../src/trust/increment.ts";
import { signSnapshot } from "../../../src/trust/snapshot.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { envelopeFor, incrementDraft } from "../../support/trust-increments.ts";
import { contextOf, newKeys, OTHER_NODE } from "../../support/trust.ts";

const keys = newKeys();
const VERSIONS_MAX = 6;

const peers = fc
  .array(fc.record({ port: fc.integer({ min: 1, max: 9 }), thin: fc.boolean() }), { maxLength: 4 })
  .map((items): Json => ({
    peers: items.map(({ port, thin }) => ({
      node_id: OTHER_NODE,
      address: `10.0.0.2:${port}`,
      roles: thin ? ["thin"] : [],
    })),
  }));

interface Delivery {
  readonly kind: "full" | "increment";
  readonly version: number;
}
const deliveries = fc.array(
  fc.record<Delivery>({
    kind: fc.constantFrom("full" as const, "increment" as const),
    version: fc.integer({ min: 1, max: VERSIONS_MAX }),
  }),
  { maxLength: 20 },
);

function publish(contents: readonly Json[]) {
  const full = contents.map(
    (content, at) => signSnapshot({ ...envelopeFor(at + 1), content }, [keys.online]).frame,
  );
  const increments = contents.map((content, at) => {
    if (at === 0 || digestOfJson(contents[at - 1]!) === digestOfJson(content)) return null;
    return signIncrement(incrementDraft(at + 1, contents[at - 1]!, content), [keys.online]).frame;
  });
  return { full, increments };
}

/** What the agent does with each delivery, and nothing more. */
function newNode() {
  let active: (ActiveContent & { readonly stored: Buffer }) | null = null;
  /** Of increments whose base it did not have. */
  let heardOf = 0;
  const context = () => contextOf(keys, { roles: ["core_mesh"], accepted: () => active?.version ?? null });
  const keep = (version: number, content: Json, stored: Buffer): void => {
    active = { version: { epoch: 1, version }, contentHash: digestOfJson(content), content, stored };
  };
  return {
    state: () => ({ active, wantsFull: heardOf > (active?.version.version ?? 0) }),
    receive(kind: Delivery["kind"], frame: Buffer): void {
      if (kind === "full") {
        const result = verifySnapshot(frame, context());
        if (result.kind === "accepted") keep(result.header.config_version, result.content, frame);
        return;
      }
      const result = verifyIncrement(frame, context(), active);
      if (result.kind === "accepted") keep(result.header.config_version, result.content, result.stored);
      else if (result.code === "INCREMENT_BASE_MISMATCH")
        heardOf = Math.max(heardOf, result.version?.version ?? 0);
      else expect(result.code).toBe("SNAPSHOT_ROLLBACK");
    },
    /** Killed and started again: what was kept stands by itself. */
    restart(): void {
      if (active === null) return;
      const result = verifyStored(active.stored, contextOf(keys, { roles: ["core_mesh"] }));
      expect(result).toMatchObject({ kind: "accepted", content: active.content });
    },
  };
}

test("a node holds what was signed for the version it reports, in whatever order and with whatever losses", () => {
  const contents = fc.array(peers, { minLength: VERSIONS_MAX, maxLength: VERSIONS_MAX });
  fc.assert(
    fc.property(contents, deliveries, (versions, order) => {
      const { full, increments } = publish(versions);
      const node = newNode();
      let newest = 0;
      for (const { kind, version } of order) {
        const frame = (kind === "full" ? full : increments)[version - 1];
        if (frame === null || frame === undefined) continue;
        node.receive(kind, frame);
        const { active, wantsFull } = node.state();
        newest = Math.max(newest, version);
        if (active !== null) expect(active.content).toEqual(versions[active.version.version - 1]);
        // Behind what it has heard of, it asks.
        if ((active?.version.version ?? 0) < newest) expect(wantsFull).toBe(true);
      }
      node.restart();
      node.receive("full", full.at(-1)!);
      expect(node.state().active?.content).toEqual(versions.at(-1));
    }),
    { numRuns: 50 },
  );
});
