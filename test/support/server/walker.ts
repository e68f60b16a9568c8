// Walks over the operations of a site's OpenAPI document, and lists what is not answered as the document says.

import { expect } from "vitest";
import {
  judgeBy,
  operationsOf,
  type Answer,
  type Judge,
  type OpenApi,
  type Operation,
} from "./openapi-document.ts";
import type { Call } from "./operators-site.ts";
import { API, type Example, type Examples } from "./walk-example.ts";
import { FLEET_EXAMPLES } from "./walk-fleet.ts";
import { ROLLOUT_EXAMPLES } from "./walk-rollouts.ts";
import { startWalk } from "./walk-site.ts";
import { TOLD_EXAMPLES } from "./walk-told.ts";
import { TRUST_EXAMPLES } from "./walk-trust.ts";

export const EXAMPLES: Examples = {
  ...TRUST_EXAMPLES,
  ...FLEET_EXAMPLES,
  ...ROLLOUT_EXAMPLES,
  ...TOLD_EXAMPLES,
};

export type Walker = Awaited<ReturnType<typeof startWalker>>;

export async function startWalker() {
  const walk = await startWalk();
  const document = (await walk.call("GET", "/openapi.json")).json<OpenApi>();
  const operations = operationsOf(document);
  const judge: Judge = judgeBy(document);
  return {
    walk,
    document,
    operations,
    judge,
    exampleOf: async ({ name }: Operation): Promise<Example> => EXAMPLES[name]!(walk),
    /** As the administrator. */
    send: (operation: Operation, url: string, more: Call = {}) =>
      walk.call(operation.method, url, { token: walk.admin, ...more }),
    /** Calls each operation once. Nothing, if all is well. */
    async problems(
      chosen: readonly Operation[],
      status: number | RegExp | ((operation: Operation) => number),
      ask: (operation: Operation) => Promise<Answer>,
    ): Promise<string[]> {
      expect(chosen).not.toEqual([]);
      const found: string[] = [];
      for (const operation of chosen) {
        const answer = await ask(operation);
        const wanted = typeof status === "function" ? status(operation) : status;
        const said = String(answer.statusCode);
        if (!(wanted instanceof RegExp ? wanted.test(said) : said === String(wanted)))
          found.push(`${operation.name} → ${said}, not ${wanted}: ${answer.body}`);
        found.push(...judge.problemsOf(operation, answer));
      }
      return found;
    },
    stop: walk.stop,
  };
}

/** Well-formed, and of nothing that is there. */
const UNKNOWN: Readonly<Record<string, string>> = {
  id: "00000000-0000-4000-8000-00000000dead",
  nodeId: "00000000-0000-4000-8000-00000000dead",
  deliveryId: "00000000-0000-4000-8000-00000000dead",
  name: "nobody-has-this-name",
  seq: "999999999",
  profile: "no-profile",
  upgradeId: "no-upgrade",
  scope: "qos_policy",
};
const UNKNOWN_KEY = "0".repeat(64);

export const unknownFor = ({ path }: Operation, parameter: string): string =>
  path.startsWith(`${API}/keys/`) ? UNKNOWN_KEY : UNKNOWN[parameter]!;

/** An address in order at which nothing is: a call that is refused for more than that is refused before it is looked up. */
export const unknownUrl = (operation: Operation): string =>
  operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => unknownFor(operation, name));
