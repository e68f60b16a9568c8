import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { probe } from "../../../src/agent/programs/probe.ts";
import { artifactServer, type ArtifactServer } from "../../support/programs/artifact-server.ts";
import { freePort } from "../../support/programs/free-port.ts";

describe("the probe of a program", () => {
  let server: ArtifactServer;
  beforeEach(async () => void (server = await artifactServer()));
  afterEach(async () => server.close());
  const ask = async (path: string, sync_field?: string) =>
    probe({ url: `${server.origin}${path}`, ...(sync_field === undefined ? {} : { sync_field }) });

  it.each([
    [200, "ok"],
    [204, "ok"],
    [302, "degraded"],
    [404, "degraded"],
    [503, "degraded"],
  ] as const)("ROLL-15: %i is %s, and synced when no field is named", async (status, application_health) => {
    server.put("/healthz", (_, response) => response.writeHead(status).end());
    expect(await ask("/healthz")).toEqual({ application_health, sync_status: "synced" });
  });

  it("ROLL-15: nobody there is critical", async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    expect(await probe({ url })).toEqual({ application_health: "critical", sync_status: "synced" });
    expect(await probe({ url, sync_field: "a" })).toEqual({
      application_health: "critical",
      sync_status: "stalled",
    });
  });

  it("ROLL-15: one that never answers is critical", async () => {
    server.put("/hung", () => undefined);
    expect(await ask("/hung")).toMatchObject({ application_health: "critical" });
  });

  it("ROLL-15: one that never ends is critical, and cut off", async () => {
    server.put("/endless", (request, response) => {
      const timer = setInterval(() => response.write("x".repeat(32 * 1024)), 1);
      request.on("close", () => clearInterval(timer));
    });
    expect(await ask("/endless")).toMatchObject({ application_health: "critical" });
  });

  it.each([
    ['{"result":{"sync":"syncing"}}', "syncing"],
    ['{"result":{"sync":"stalled"}}', "stalled"],
    ['{"result":{"sync":true}}', "synced"],
    ['{"result":{"sync":"odd"}}', "syncing"],
    ['{"result":null}', "syncing"],
    ['{"__proto__":{"sync":"stalled"}}', "syncing"],
    ["not json", "syncing"],
  ] as const)("ROLL-15: the sync status is the named field's: %s", async (body, sync_status) => {
    server.put("/healthz", body);
    expect(await ask("/healthz", "result.sync")).toEqual({ application_health: "ok", sync_status });
  });
});
