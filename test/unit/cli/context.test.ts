import { stat, writeFile, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { homeOf } from "../../../src/cli/home.ts";
import { fairlead, homeFor, PINS, refusal, serve, temporaryFolder, TOKEN_ANSWER } from "./support.ts";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const who = (cluster: string = PINS.cluster_id) => ({
  json: { user: "ann", scopes: ["admin"], cluster_id: cluster, intents_required: true },
});
const KEY = "flk_secret_0123456789";

const site = (cluster?: string) =>
  serve(({ url: { pathname }, body }) => {
    if (pathname.endsWith("/whoami")) return who(cluster);
    const { api_key } = body as { api_key: string };
    return api_key === KEY ? TOKEN_ANSWER : refusal(401, "UNAUTHENTICATED", "unknown key");
  });

async function keyFile(text = `${KEY}\n`): Promise<string> {
  const path = join(await temporaryFolder(), "key");
  await writeFile(path, text, { mode: 0o600 });
  return path;
}

describe("contexts (USE-2, USE-6)", () => {
  test("live in FAIRLEAD_HOME, else XDG_CONFIG_HOME, else ~/.config", () => {
    expect(homeOf({ FAIRLEAD_HOME: "/a", XDG_CONFIG_HOME: "/b", HOME: "/c" })).toBe("/a");
    expect(homeOf({ FAIRLEAD_HOME: "", XDG_CONFIG_HOME: "/b", HOME: "/c" })).toBe("/b/fairlead");
    expect(homeOf({ HOME: "/c" })).toBe("/c/.config/fairlead");
  });

  test("login keeps key and token in 0600 files of 0700 folders, and shows neither", async () => {
    const { url } = await site();
    const env = { FAIRLEAD_HOME: join(await temporaryFolder(), "deep", "home") };
    const ran = await fairlead(
      ["login", "--server", url, "--api-key-file", await keyFile(), "--context", "a"],
      { env },
    );
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toBe(`signed in to ${url} as ann; context a is the current one\n`);
    for (const file of ["contexts/a.json", "tokens/a.json", "current"])
      expect(await modeOf(join(env.FAIRLEAD_HOME, file))).toBe(0o600);
    for (const folder of ["", "contexts", "tokens"])
      expect(await modeOf(join(env.FAIRLEAD_HOME, folder))).toBe(0o700);
    const shown = await fairlead(["context", "show", "--json"], { env });
    expect(shown.out).not.toContain(KEY);
    expect(shown.json()).toEqual({ name: "a", server: url, pins: null, release_key_file: null });
  });

  test("the key may come from stdin or from FAIRLEAD_API_KEY, and from one place only", async () => {
    const { url } = await site();
    const env = { FAIRLEAD_HOME: await temporaryFolder() };
    const login = ["login", "--server", url];
    expect((await fairlead([...login, "--api-key-stdin"], { env, stdin: `${KEY}\n` })).code).toBe(0);
    expect((await fairlead(login, { env: { ...env, FAIRLEAD_API_KEY: KEY } })).code).toBe(0);
    expect((await fairlead(login, { env })).err).toContain(
      "--api-key-file, --api-key-stdin or FAIRLEAD_API_KEY",
    );
    const both = await fairlead([...login, "--api-key-stdin", "--api-key-file", await keyFile()], { env });
    expect(both.code).toBe(2);
  });

  test("a refused key leaves no context behind", async () => {
    const { url } = await site();
    const env = { FAIRLEAD_HOME: await temporaryFolder() };
    const ran = await fairlead(
      ["login", "--server", url, "--api-key-file", await keyFile("flk_wrong_key_000")],
      { env },
    );
    expect(ran.code).toBe(6);
    expect(await readdir(env.FAIRLEAD_HOME)).toEqual([]);
  });

  test("pins come from a colleague's context, and a server of another cluster is refused", async () => {
    const [{ url }, stranger] = [await site(), await site("c0000000-0000-4000-8000-00000000ffff")];
    const pins = join(await temporaryFolder(), "pins.json");
    await writeFile(pins, (await fairlead(["context", "show", "--json"], { env: await homeFor(url) })).out);
    const env = { FAIRLEAD_HOME: await temporaryFolder() };
    const login = (server: string) =>
      fairlead(["login", "--server", server, "--api-key-stdin", "--pins", pins], { env, stdin: KEY });
    expect((await login(stranger.url)).err).toMatch(/error PIN_MISMATCH/);
    expect((await login(url)).code).toBe(0);
    expect((await fairlead(["context", "show", "--json"], { env })).json()).toMatchObject({ pins: PINS });
    const again = await fairlead(["login", "--server", url, "--api-key-stdin"], { env, stdin: KEY });
    expect(again.code).toBe(0);
    expect((await fairlead(["context", "show", "--json"], { env })).json()).toMatchObject({ pins: PINS });
  });

  test("are listed, chosen and removed with their token", async () => {
    const { url } = await site();
    const env = await homeFor(url);
    await fairlead(["login", "--server", url, "--api-key-stdin", "--context", "b"], { env, stdin: KEY });
    const list = async () =>
      (await fairlead(["context", "list", "--json"], { env })).json<{
        contexts: { name: string; current: boolean }[];
      }>();
    const brief = async () => (await list()).contexts.map(({ name, current }) => [name, current]);
    expect(await brief()).toEqual([
      ["b", true],
      ["default", false],
    ]);
    expect((await fairlead(["context", "use", "default"], { env })).code).toBe(0);
    expect(await brief()).toEqual([
      ["b", false],
      ["default", true],
    ]);
    expect((await fairlead(["context", "remove", "b"], { env })).code).toBe(0);
    expect(await readdir(join(env["FAIRLEAD_HOME"]!, "tokens"))).toEqual([]);
    expect((await fairlead(["context", "use", "b"], { env })).code).toBe(5);
    expect((await fairlead(["whoami", "--context", "b"], { env })).err).toContain("there is no context b");
  });

  test.each(["../../etc/passwd", ".hidden", "a/b", ""])(
    "a name that is no file's name is refused: %j",
    async (name) => {
      const env = await homeFor("http://127.0.0.1:1");
      expect((await fairlead(["context", "remove", name], { env })).err).toMatch(/INVALID_INPUT|NOT_FOUND/);
      expect(await readdir(join(env["FAIRLEAD_HOME"]!, "contexts"))).toEqual(["default.json"]);
    },
  );

  test("a damaged context file says so without showing what is in it", async () => {
    const env = await homeFor("http://127.0.0.1:1");
    await writeFile(join(env["FAIRLEAD_HOME"]!, "contexts/default.json"), '{"api_key":"flk_leaked_key"}');
    const ran = await fairlead(["whoami"], { env });
    expect(ran.code).toBe(3);
    expect(ran.err).not.toContain("flk_leaked_key");
  });

  test.each([
    ["http://example.com", "http is for this machine only"],
    ["ftp://127.0.0.1", "not an http or https address"],
    ["https://user:pw@host", "no user or password"],
    ["https://host/path", "without a path"],
    ["nonsense", "not an address"],
  ])("the server's address %s is refused: a key would travel to it", async (server, why) => {
    const ran = await fairlead(["login", "--server", server, "--api-key-stdin"], { stdin: KEY });
    expect(ran.code).toBe(2);
    expect(ran.err).toContain(why);
  });
});

describe("tokens (USE-6)", () => {
  test("one is cached until it expires, and a refused one is exchanged once", async () => {
    let valid = "t1";
    const { url, asked } = await serve(({ url: { pathname }, headers }) => {
      if (pathname.endsWith("/auth/token"))
        return { json: { token: valid, expires_at: "2026-01-01T00:15:00.000Z" } };
      return headers.authorization === `Bearer ${valid}` ? who() : refusal(401, "TOKEN_INVALID", "old");
    });
    const env = await homeFor(url);
    const at = (text: string) => ({ env, now: () => Date.parse(text) });
    const exchanges = () => asked.filter(({ url: { pathname } }) => pathname.endsWith("/auth/token")).length;
    expect((await fairlead(["whoami"], at("2026-01-01T00:00:00.000Z"))).code).toBe(0);
    expect((await fairlead(["whoami"], at("2026-01-01T00:14:00.000Z"))).code).toBe(0);
    expect(exchanges()).toBe(1);
    expect((await fairlead(["whoami"], at("2026-01-01T00:15:00.000Z"))).code).toBe(0);
    expect(exchanges()).toBe(2);
    valid = "t2";
    expect((await fairlead(["whoami"], at("2026-01-01T00:14:00.000Z"))).code).toBe(0);
    expect(exchanges()).toBe(3);
    expect(await readFile(join(env["FAIRLEAD_HOME"]!, "tokens/default.json"), "utf8")).toContain("t2");
  });

  test("a token that is refused again is an error, not a loop", async () => {
    const { url, asked } = await serve(({ url: { pathname } }) =>
      pathname.endsWith("/auth/token") ? TOKEN_ANSWER : refusal(401, "TOKEN_INVALID", "never"),
    );
    expect((await fairlead(["whoami"], { env: await homeFor(url) })).code).toBe(6);
    expect(asked).toHaveLength(4);
  });
});
