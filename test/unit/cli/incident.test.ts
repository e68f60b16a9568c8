import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { incidentTable } from "../../../src/cli/incident/text.ts";
import type { Paint } from "../../../src/cli/output.ts";
import { nodeSample, uuid } from "./samples.ts";
import {
  DELIVERY_ID,
  deliverySample,
  INCIDENT_ID,
  incidentSample,
  WEBHOOK_ID,
  webhookSample,
} from "./steer-samples.ts";
import { fairlead, homeFor, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

async function site() {
  const fixture = await serve(({ method, url: { pathname } }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname === "/api/v1/nodes") return { json: { nodes: [nodeSample(1)], next_cursor: null } };
    if (pathname === "/api/v1/incidents")
      return { json: { incidents: [incidentSample()], next_cursor: null } };
    if (pathname.startsWith("/api/v1/incidents/")) {
      const status = pathname.endsWith("/resolve") ? "resolved" : method === "POST" ? "acknowledged" : "open";
      return { json: incidentSample({ status }) };
    }
    if (pathname === "/api/v1/webhooks" && method === "POST")
      return { status: 201, json: { webhook: webhookSample(), secret: "whsec_c2VjcmV0" } };
    if (pathname === "/api/v1/webhooks") return { json: { webhooks: [webhookSample()] } };
    if (pathname.endsWith("/deliveries"))
      return { json: { deliveries: [deliverySample()], next_cursor: null } };
    if (pathname.endsWith("/redeliver") || pathname.endsWith("/test"))
      return { json: deliverySample({ status: "pending" }) };
    if (method === "DELETE") return { status: 204, json: null };
    return { json: webhookSample({ enabled: !pathname.endsWith("/disable") }) };
  });
  const env = await homeFor(fixture.url);
  return { asked: fixture.asked, run: (...words: string[]) => fairlead(words, { env }) };
}

describe("incidents on the command line (ROLL-19)", () => {
  test("list asks for what was named, a node by its id", async () => {
    const { run, asked } = await site();
    const ran = await run("incident", "list", "--status", "open", "--node", "node-1");
    expect(ran.out).toMatch(/7c1e0000 +critical +open +upgrade_failed +node-1/);
    const query = asked.find(({ url }) => url.pathname === "/api/v1/incidents")!.url.searchParams;
    expect(query.get("status")).toBe("open");
    expect(query.get("node_id")).toBe(uuid(1));
    expect((await run("incident", "list", "--status", "closed")).code).toBe(2);
  });

  test("ROLL-19: an unresolved incident has the colour of its severity on a terminal, a resolved one has none", () => {
    const paint: Paint = (style, text) => `<${style}:${text}>`;
    const incidents = [
      incidentSample(),
      incidentSample({ severity: "warning", category: "key_expiring" }),
      incidentSample({ status: "resolved" }),
    ];
    const [, critical, warning, resolved] = incidentTable(incidents, Date.now(), paint).split("\n");
    expect(critical).toContain("<red:critical>");
    expect(warning).toContain("<yellow:warning>");
    expect(resolved).not.toContain("<");
  });

  test("ROLL-16: show has the recovery plan, line by line", async () => {
    const { run } = await site();
    const { out } = await run("incident", "show", INCIDENT_ID.slice(0, 4));
    expect(out).toContain("recovery plan\n  1. stop the node\n  2. restore the backup");
    expect(out).toMatch(/code +BACKUP_CORRUPT/);
  });

  test.each([
    ["acknowledge", "acknowledged"],
    ["resolve", "resolved"],
  ])("%s is one POST with the note", async (step, status) => {
    const { run, asked } = await site();
    const ran = await run("incident", step, INCIDENT_ID, "--note", "seen");
    expect(ran.out).toBe(`incident ${INCIDENT_ID} is ${status}\n`);
    expect(asked.at(-1)).toMatchObject({ method: "POST", body: { note: "seen" } });
  });
});

describe("webhooks on the command line (ROLL-19)", () => {
  test("add prints the secret once, alone on stdout", async () => {
    const { run, asked } = await site();
    const ran = await run(
      "webhook",
      "add",
      "on-call",
      "--url",
      "https://h.example",
      "--event",
      "incident_opened",
    );
    expect(ran).toMatchObject({ code: 0, out: "whsec_c2VjcmV0\n" });
    expect(asked.at(-1)!.body).toMatchObject({ name: "on-call", events: ["incident_opened"] });
    expect((await run("webhook", "add", "x", "--url", "https://h.example", "--event", "nothing")).code).toBe(
      2,
    );
  });

  test("add --out keeps the secret in a file of the operator's own and prints none of it", async () => {
    const { run } = await site();
    const file = join(await temporaryFolder(), "secret");
    const ran = await run("webhook", "add", "on-call", "--url", "https://h.example", "--out", file);
    expect(`${ran.out}${ran.err}`).not.toContain("whsec_");
    expect(await readFile(file, "utf8")).toBe("whsec_c2VjcmV0\n");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("a secret that cannot be kept takes its webhook back", async () => {
    const { run, asked } = await site();
    const file = join(await temporaryFolder(), "secret");
    await run("webhook", "add", "on-call", "--url", "https://h.example", "--out", file);
    expect((await run("webhook", "add", "on-call", "--url", "https://h.example", "--out", file)).code).toBe(
      3,
    );
    expect(asked.at(-1)).toMatchObject({
      method: "DELETE",
      url: { pathname: `/api/v1/webhooks/${WEBHOOK_ID}` },
    });
  });

  test.each([
    [["enable", "on-call"], "POST", "/enable", "webhook on-call is enabled"],
    [["disable", "on-call"], "POST", "/disable", "webhook on-call is disabled"],
    [["test", "on-call"], "POST", "/test", `as delivery ${DELIVERY_ID}`],
    [["remove", "on-call"], "DELETE", "", "webhook on-call is removed"],
    [["redeliver", "on-call", DELIVERY_ID], "POST", `/deliveries/${DELIVERY_ID}/redeliver`, "it is pending"],
  ])("`webhook %j` asks for exactly that", async (words, method, path, said) => {
    const { run, asked } = await site();
    expect((await run("webhook", ...words)).out).toContain(said);
    expect(asked.at(-1)).toMatchObject({
      method,
      url: { pathname: `/api/v1/webhooks/${WEBHOOK_ID}${path}` },
    });
  });

  test("deliveries tell what was answered, and a cut id is refused", async () => {
    const { run } = await site();
    expect((await run("webhook", "deliveries", "on-call")).out).toMatch(/incident_opened +failed +3 +500 /);
    expect((await run("webhook", "redeliver", "on-call", "0b9a")).code).toBe(2);
  });
});
