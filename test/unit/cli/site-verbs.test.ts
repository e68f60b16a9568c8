import { expect, test } from "vitest";
import { eventSample, eventText, nodeSample } from "./samples.ts";
import { fairlead, homeFor, serve, TOKEN_ANSWER } from "./support.ts";

test("USE-2: `events` prints a line for each event with the node's name, and ends after --count", async () => {
  const { url, asked } = await serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [nodeSample(1)], next_cursor: null } };
    return (response) => {
      const upgrade = { status: "succeeded", phase: null, action: null, error: null };
      response.write(eventText(eventSample(8, "node.upgrade", upgrade, 1)));
      response.write(eventText(eventSample(9, "incident.opened", { title: "node-1 is gone" }, 1)));
    };
  });
  const env = await homeFor(url);
  const ran = await fairlead(["events", "--count", "2"], { env });
  expect(ran.out.split("\n")).toEqual([
    "2026-01-01T00:00:08.000Z node node-1 succeeded [3f2a0000]",
    "2026-01-01T00:00:09.000Z incident opened node-1 node-1 is gone [3f2a0000]",
    "",
  ]);
  expect(asked.at(-1)!.url.searchParams.has("after")).toBe(false);
  await fairlead(["events", "--after", "7", "--count", "1", "--json"], { env });
  expect(asked.at(-1)!.url.searchParams.get("after")).toBe("7");
});

test("USE-2: `events` names the node, the subject, who did it and why", async () => {
  const events = [
    eventSample(8, "node.state", { from: "degraded", to: "down", reason: "HEARTBEAT_LOST" }, 1),
    { ...eventSample(9, "node.revoked", { reason: "stolen" }, 1), actor: "key:ann" },
    { ...eventSample(10, "rollout.status", { from: "pending", to: "running", why: null }), actor: "key:ann" },
    {
      ...eventSample(11, "model.changed", { resource: "service", name: "db", change: "set" }),
      actor: "key:bo",
    },
    eventSample(12, "rollout.signal", { signal: "pause", actor: "key:bo", reason: "look", applied: true }),
  ];
  const { url } = await serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [nodeSample(1)], next_cursor: null } };
    return (response) => void response.write(events.map(eventText).join(""));
  });
  const ran = await fairlead(["events", "--count", "5"], { env: await homeFor(url) });
  expect(ran.out.replaceAll(/^\S+ | \[3f2a0000\]/gm, "").split("\n")).toEqual([
    "node state node-1 degraded → down: HEARTBEAT_LOST",
    "node revoked node-1 by key:ann: stolen",
    "rollout pending → running by key:ann",
    "model changed service db by key:bo",
    "signal pause by key:bo applied: look",
    "",
  ]);
});

test("USE-2: `grant` sets the scopes of somebody, and without a scope takes them away", async () => {
  const { url, asked } = await serve(({ url: { pathname }, body }) =>
    pathname === "/api/v1/auth/token" ? TOKEN_ANSWER : { json: body },
  );
  const env = await homeFor(url);
  const who = ["--issuer", "https://id.example", "--subject", "ann"];
  const ran = await fairlead(["grant", ...who, "--scope", "admin"], { env });
  expect(ran.out).toBe("ann of https://id.example may use: admin\n");
  expect((await fairlead(["grant", ...who], { env })).out).toContain("nothing any more");
  expect(asked.at(-1)!.body).toMatchObject({ subject: "ann", scopes: [] });
  expect((await fairlead(["grant", ...who, "--scope", "root"], { env })).code).toBe(2);
});
