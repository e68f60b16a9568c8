/** The one site, node, rollout and program that tests of trust speak of. */
import { ClusterId, type Digest, NodeId, ProfileId, RolloutId } from "../../src/core/ids.ts";
import type { ConfigRef } from "../../src/core/upgrade/job.ts";
import { digestOf } from "../../src/trust/digest.ts";

export const NOW = Date.UTC(2026, 0, 15, 12);
export const HOUR_MS = 3_600_000;
export const at = (ms: number): string => new Date(ms).toISOString();
export const fingerprint = (name: string): Digest => digestOf(`the bytes of ${name}`);

export const CLUSTER = ClusterId.parse("11111111-1111-4111-8111-111111111111");
export const NODE = NodeId.parse("22222222-2222-4222-8222-222222222222");
export const OTHER_NODE = NodeId.parse("33333333-3333-4333-8333-333333333333");
export const ROLLOUT = RolloutId.parse("44444444-4444-4444-8444-444444444444");
export const PROFILE = ProfileId.parse("hello");
export const RUN = { args: ["--port", "8080"], env: { MODE: "plain" }, user: null };
export const CONFIGS: ConfigRef[] = [{ path: "app.conf", mode: "0644", sha256: fingerprint("app.conf") }];
