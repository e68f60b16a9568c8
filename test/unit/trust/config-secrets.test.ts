// Raw secrets in config files, whatever their format (SNAP-5); references and harmless text pass.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { configSeal, refuseSecretIn } from "../../../src/trust/config-secrets.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { refusalOf } from "../../support/refusals.ts";

const PEM = generateKeyPairSync("ec", { namedCurve: "P-256" })
  .privateKey.export({ type: "pkcs8", format: "pem" })
  .toString();

/** The code and the message, or null. */
function refusal(content: string): string | null {
  try {
    refuseSecretIn({ path: "app.conf", content });
    return null;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
}

describe("a config file with a raw secret is refused, and the line is named", () => {
  test.each([
    ["a TOML password", 'name = "db"\npassword = "hunter2"\n', 2],
    ["a YAML password", "name: db\ndb_password: hunter2\n", 2],
    ["an env file's token", "PORT=1\nAPI_TOKEN=abcdef\n", 2],
    ["a PEM private key", `# key\n${PEM}`, 2],
    ["a private key in base64", `x = 1\nkey64 = "${Buffer.from(PEM).toString("base64")}"\n`, 2],
    ["a password in an address", "db: postgres://app:hunter2@db/app\n", 1],
    ["a WireGuard key", `[Interface]\nPrivateKey = ${randomBytes(32).toString("base64")}\n`, 2],
    ["a cloud key", "region: eu\nid: AKIAIOSFODNN7EXAMPLE\n", 2],
    ["a secret behind a reference on the same line", 'a = "secret://vault/x"; password = hunter2\n', 1],
    ["a reference with more after it", "password: secret://vault/db hunter2\n", 1],
  ])("%s", (_, content, line) => {
    expect(refusal(content)).toMatch(
      new RegExp(String.raw`^CONFIG_SECRET_FOUND app\.conf, line ${line}: it looks like `),
    );
  });

  test.each([
    ["a field of an object", '{"db": {"password": "hunter2"}}'],
    ["a token, which only its name tells", '{"token": "abc"}'],
    ["a list under such a name", '{"api_keys": ["secret://vault/a", "abc"]}'],
    ["the first of two fields with one name", '{"password": "hunter2", "password": "secret://vault/db"}'],
    ["over several lines", '{\n  "name": "db",\n  "password": "hunter2"\n}\n'],
    ["a name with an escape", String.raw`{"pass\u0077ord": "hunter2"}`],
  ])("in JSON: %s", (_, content) => {
    expect(refusal(content)).toMatch(/^CONFIG_SECRET_FOUND app\.conf(?:, line \d+)?: it looks like /);
  });
});

test("the refusal of a secret names its file and line, or the file alone for a secret over lines", () => {
  const detailOf = (content: string) => refusalOf(() => refuseSecretIn({ path: "app.conf", content })).detail;
  expect(detailOf("name: db\npassword: hunter2\n")).toEqual({ path: "app.conf", config_line: 2 });
  const overLines = '{"p\\u0061ssword":\n"hunter2"}';
  expect(detailOf(overLines)).toEqual({ path: "app.conf" });
  expect(refusal(overLines)).toMatch(/^CONFIG_SECRET_FOUND app\.conf: it looks like /);
});

test("the seal of config files names them by their digest and refuses a secret", () => {
  expect(configSeal.digestOf("port = 1\n")).toBe(digestOf("port = 1\n"));
  const file = { path: "app.conf", content: "password: hunter2\n" };
  expect(refusalOf(() => configSeal.refuseSecret(file)).code).toBe("CONFIG_SECRET_FOUND");
});

describe("a config file that only says where a secret is kept passes", () => {
  test.each([
    ["TOML", 'signer = "secret://vault/validator/signer"\npassword = "secret://vault/db" # rotated\n'],
    ["YAML", "password: secret://vault/db\napi_key: 'secret://vault/key'\n"],
    ["the environment", "password: ${DB_PASSWORD}\ntoken = $TOKEN\n"],
    ["JSON on one line", '{"password": "secret://vault/db", "token": "${TOKEN}", "port": 1}'],
    ["JSON over lines", '{\n  "password": "secret://vault/db",\n  "port": 1\n}\n'],
    ["a file of its own", "password_file: /run/credentials/db\nsecret_name = db\n"],
    ["no value yet", "password: ''\npasswd = \"\"\nport = 1\n"],
    [
      "digests, ids and public keys",
      `sha = "${"ab".repeat(32)}"\nid: 3f2a0000-0000-4000-8000-000000000001\n`,
    ],
    ["TOML that begins with a section", '[db]\npassword = "secret://vault/db"\n'],
    ["nothing", ""],
  ])("%s", (_, content) => {
    expect(refusal(content)).toBeNull();
  });
});

describe("SNAP-5: the search for secrets takes time in proportion to the size of the file", () => {
  const KIB = 1024;
  const fastestMs = (content: string): number => {
    const runs = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage();
      refuseSecretIn({ path: "app.conf", content });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...runs);
  };

  test.each([
    ["escaped quotes", (bytes: number) => JSON.stringify({ a: '"'.repeat(bytes / 2) })],
    ["JSON in a JSON string", (bytes: number) => JSON.stringify({ a: '{"b":1}'.repeat(bytes / 9) })],
    ["escaped quotes outside JSON", (bytes: number) => `a "${'\\"'.repeat(bytes / 2)}`],
    ["references in comments", (bytes: number) => "a=$b # ".repeat(bytes / 7)],
    ["quotes without an end", (bytes: number) => `{"${'\\"'.repeat(bytes / 2)}`],
  ])("%s: 32 times the bytes take at most 128 times the time", (_, contentOf) => {
    const small = fastestMs(contentOf(KIB * 32));
    expect(fastestMs(contentOf(KIB * 1024))).toBeLessThan(128 * Math.max(small, 1));
  });
});
