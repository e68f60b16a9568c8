import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allowedUrl, fetchArtifact, type FetchOptions } from "../../../src/agent/upgrade/fetch-artifact.ts";
import { isInsideAddress } from "../../../src/agent/programs/loopback.ts";
import { artifactServer, type ArtifactServer } from "../../support/programs/artifact-server.ts";

describe("an artifact's address", () => {
  const origins = ["https://artifacts.example", "http://127.0.0.1:8080"];

  it("is taken when its origin is listed, as a whole", () => {
    expect(allowedUrl("https://artifacts.example/hello?v=2", origins).pathname).toBe("/hello");
    expect(allowedUrl("http://127.0.0.1:8080/x", origins).port).toBe("8080");
    expect(allowedUrl("http://2130706433:8080/x", origins).hostname).toBe("127.0.0.1"); // the same place, spelt oddly
  });

  it.each([
    "file:///etc/shadow",
    "ftp://artifacts.example/x",
    "http://artifacts.example/x",
    "https://artifacts.example:444/x",
    "https://artifacts.example.evil/x",
    "https://artifacts.example@evil/x",
    "https://user:pw@artifacts.example/x",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost:8080/x",
    "http://[::1]:8080/x",
    "http://[::ffff:127.0.0.1]:8080/x",
    "http://0x7f000001/x",
    "not an address",
  ])("is refused otherwise: %s", (address) => {
    expect(() => allowedUrl(address, origins)).toThrow(
      expect.objectContaining({ code: "ORIGIN_NOT_ALLOWED" }),
    );
  });

  it.each([
    "127.0.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "::1",
    "::",
    "fe80::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.0.1",
  ])("must not resolve to the inside: %s", (address) => expect(isInsideAddress(address)).toBe(true));
  it.each(["10.1.2.3", "93.184.216.34", "2001:db8::1"])(
    "may resolve to the outside or the site: %s",
    (address) => expect(isInsideAddress(address)).toBe(false),
  );
});

describe("fetching an artifact", () => {
  let server: ArtifactServer;
  beforeEach(async () => void (server = await artifactServer()));
  afterEach(async () => server.close());

  async function get(path: string, more: Partial<FetchOptions> = {}): Promise<string> {
    const chunks: Uint8Array[] = [];
    const options = { origins: [server.origin], signal: new AbortController().signal, ...more };
    await fetchArtifact(`${server.origin}${path}`, async (chunk) => void chunks.push(chunk), options);
    return Buffer.concat(chunks).toString();
  }

  it("hands on what the address serves", async () => {
    server.put("/hello", "bytes");
    expect(await get("/hello")).toBe("bytes");
  });

  it("takes nothing but a plain answer", async () => {
    await expect(get("/missing")).rejects.toMatchObject({ code: "ARTIFACT_UNREACHABLE" });
  });

  it("follows no redirect, to wherever it leads", async () => {
    server.put("/moved", (_, response) =>
      response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    );
    await expect(get("/moved")).rejects.toMatchObject({ code: "ARTIFACT_UNREACHABLE" });
    expect(server.requests).toEqual(["/moved"]);
  });

  it.each([
    ["announced", (body: string) => ({ "content-length": String(body.length) })],
    ["not announced", () => ({})],
  ])("stops at its bound, also when the size was %s", async (_, headers) => {
    const body = "x".repeat(5_000);
    server.put("/big", (_request, response) => response.writeHead(200, headers(body)).end(body));
    await expect(get("/big", { bytesMax: 1_000 })).rejects.toMatchObject({ code: "ARTIFACT_TOO_LARGE" });
  });

  it("cuts off a peer that drips", async () => {
    server.put("/drip", (request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write("."), 5);
      request.on("close", () => clearInterval(timer));
    });
    const pace = { bytesMin: 1_000, windowMs: 50 };
    await expect(get("/drip", { pace })).rejects.toMatchObject({ code: "ARTIFACT_UNREACHABLE" });
  });

  it("cuts off a peer that breaks off", async () => {
    server.put("/short", (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("half", () => response.destroy());
    });
    await expect(get("/short")).rejects.toMatchObject({ code: "ARTIFACT_UNREACHABLE" });
  });

  it("ends with its caller", async () => {
    server.put("/never", () => undefined);
    const caller = new AbortController();
    const fetching = get("/never", { signal: caller.signal });
    caller.abort(new Error("enough"));
    await expect(fetching).rejects.toThrow("enough");
  });

  it("refuses a listed name that resolves to the inside", async () => {
    const origin = "http://artifacts.example";
    const options = { origins: [origin], signal: new AbortController().signal };
    const addresses = [
      { address: "93.184.216.34", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ];
    const resolve = ((_name: string, _options: unknown, callback: (error: null, found: unknown) => void) =>
      callback(null, addresses)) as unknown as NonNullable<FetchOptions["resolve"]>;
    await expect(
      fetchArtifact(`${origin}/x`, async () => undefined, { ...options, resolve }),
    ).rejects.toMatchObject({
      code: "ORIGIN_NOT_ALLOWED",
    });
  });
});
