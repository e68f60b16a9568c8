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
    { ...eventSample(12, "enrollment_token.created", { name: "node-1" }, 1), actor: "key:bo" },
    eventSample(13, "rollout.signal", { signal: "pause", actor: "key:bo", reason: "look", applied: true }),
  ];
  const { url } = await serve(({ url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [nodeSample(1)], next_cursor: null } };
    return (response) => void response.write(events.map(eventText).join(""));
  });
  const ran = await fairlead(["events", "--count", "6"], { env: await homeFor(url) });
  expect(ran.out.replaceAll(/^\S+ | \[3f2a0000\]/gm, "").split("\n")).toEqual([
    "node state node-1 degraded → down: HEARTBEAT_LOST",
    "node revoked node-1 by key:ann: stolen",
    "rollout pending → running by key:ann",
    "model changed service db by key:bo",
    "enrollment_token created node-1 by key:bo",
    "signal pause by key:bo applied: look",
    "",
  ]);
});

const GRANTED = { granted_by: "key:boss", granted_at: "2026-01-01T00:00:00.000Z" };

test("USE-2: `grant set` sets the scopes of somebody, and without a scope takes them away", async () => {
  const { url, asked } = await serve(({ url: { pathname }, body }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    const { reason: _reason, ...grant } = body as { reason?: string };
    return { json: { ...grant, ...GRANTED } };
  });
  const env = await homeFor(url);
  const who = ["--issuer", "https://id.example", "--subject", "ann"];
  const ran = await fairlead(["grant", "set", ...who, "--scope", "admin", "--reason", "on call"], { env });
  expect(ran.out).toBe("ann of https://id.example may use: admin\n");
  expect(asked.at(-1)!.body).toMatchObject({ scopes: ["admin"], reason: "on call" });
  expect((await fairlead(["grant", "set", ...who], { env })).out).toContain("nothing any more");
  expect(asked.at(-1)!.body).toMatchObject({ subject: "ann", scopes: [] });
  expect((await fairlead(["grant", "set", ...who, "--scope", "root"], { env })).code).toBe(2);
});

test("USE-2: `grant list` reads every page and shows who may do what, by whom and since when", async () => {
  const grant = (subject: string, scopes: string[]) => ({
    issuer: "https://id.example",
    subject,
    scopes,
    ...GRANTED,
  });
  const { url } = await serve(({ url: { pathname, searchParams } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    return searchParams.has("cursor")
      ? { json: { grants: [grant("bob", [])], next_cursor: null } }
      : { json: { grants: [grant("ann", ["admin"])], next_cursor: "next" } };
  });
  const env = await homeFor(url);
  const { out } = await fairlead(["grant", "list"], { env });
  expect(out).toMatch(/^SUBJECT +ISSUER +SCOPES +GRANTED BY +AT/);
  expect(out).toMatch(/^ann +https:\/\/id\.example +admin +key:boss +2026-01-01T00:00:00\.000Z$/m);
  expect(out).toMatch(/^bob +https:\/\/id\.example +- +key:boss/m);
  const json = await fairlead(["grant", "list", "--json"], { env });
  expect(json.out).toContain('"subject":"bob"');
});
