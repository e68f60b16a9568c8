import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ApiKeyView } from "../../../src/core/protocol/api-key-api.ts";
import { uuid } from "./samples.ts";
import { fairlead, homeFor, refusal, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const AT = "2026-01-01T00:00:00.000Z";
const sample = (more: object = {}): ApiKeyView =>
  ApiKeyView.parse({
    id: uuid(1),
    name: "ann",
    scopes: ["admin"],
    created_at: AT,
    revoked_at: null,
    ...more,
  });
const KEYS = [
  sample({ id: uuid(2), revoked_at: AT }),
  sample(),
  sample({ id: uuid(3), name: "ci", scopes: [] }),
];

async function site() {
  const fixture = await serve(({ method, url: { pathname }, body }) => {
    if (pathname === "/api/v1/auth/token") return TOKEN_ANSWER;
    if (pathname.endsWith("/revoke")) {
      const { force } = body as { force: boolean };
      return force ? { json: sample({ revoked_at: AT }) } : refusal(409, "LAST_ADMIN_KEY", "the last one");
    }
    if (method === "POST") return { status: 201, json: { key: sample(), api_key: "flk_secret" } };
    return { json: { keys: KEYS, next_cursor: null } };
  });
  const env = await homeFor(fixture.url);
  return { asked: fixture.asked, run: (...words: string[]) => fairlead(["api-key", ...words], { env }) };
}

describe("API keys on the command line", () => {
  test("list tells the keys in use from revoked ones, and what each may do", async () => {
    const { out } = await (await site()).run("list");
    expect(out).toMatch(/ann +00000001 +admin +2026\S+ +-\n/);
    expect(out).toMatch(/ann +00000002 +admin +2026\S+ +2026/);
    expect(out).toMatch(/ci +00000003 +- +2026/);
  });

  test("create prints the key once, alone on stdout", async () => {
    const { run, asked } = await site();
    const ran = await run("create", "ann", "--scope", "admin");
    expect(ran).toMatchObject({ code: 0, out: "flk_secret\n" });
    expect(asked.at(-1)!.body).toEqual({ name: "ann", scopes: ["admin"] });
    expect((await run("create", "ann", "--scope", "root")).code).toBe(2);
    expect((await run("create", "no spaces")).code).toBe(2);
  });

  test("create --out keeps the key in a file of the operator's own; a file that is there takes the key back", async () => {
    const { run, asked } = await site();
    const file = join(await temporaryFolder(), "key");
    const ran = await run("create", "ann", "--out", file);
    expect(`${ran.out}${ran.err}`).not.toContain("flk_");
    expect(await readFile(file, "utf8")).toBe("flk_secret\n");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await run("create", "ann", "--out", file)).code).toBe(3);
    expect(asked.at(-1)).toMatchObject({
      url: { pathname: `/api/v1/api-keys/${uuid(1)}/revoke` },
      body: { force: true },
    });
  });

  test("revoke finds the key in use by its name, and the last administrator's only with --force", async () => {
    const { run, asked } = await site();
    const refused = await run("revoke", "ann", "--reason", "left");
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("LAST_ADMIN_KEY")]);
    expect(asked.at(-1)).toMatchObject({
      url: { pathname: `/api/v1/api-keys/${uuid(1)}/revoke` },
      body: { force: false, reason: "left" },
    });
    expect((await run("revoke", "ann", "--force")).out).toContain("API key ann");
    expect((await run("revoke", "nobody")).code).toBe(5);
  });
});
