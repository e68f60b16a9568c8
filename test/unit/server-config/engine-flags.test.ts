// How a server is told where its database and the nodes of its Restate cluster are.

import { expect, test } from "vitest";
import { parseServerConfig, type ServerConfig } from "../../../src/server/config.ts";

const BASE = ["--data-dir", "/tmp/x", "--database-url", "postgres://db/fairlead"];
const parse = (flags: string[], env: NodeJS.ProcessEnv = {}) =>
  (parseServerConfig([...BASE, ...flags], env) as ServerConfig).engines;

test("USE-5: each node of a Restate cluster is named, by a flag again or a list with commas", () => {
  const urls = ["http://r1:8080", "http://r2:8080"];
  const repeated = parse(urls.flatMap((url) => ["--restate-url", url]));
  expect(repeated).toMatchObject({ kind: "external", restateUrls: urls });
  expect(parse(["--restate-url", urls.join(",")])).toEqual(repeated);
  expect(parse([], { FAIRLEAD_RESTATE_URL: urls.join(", ") })).toEqual(repeated);
});

test("USE-5: their admin addresses are beside them unless they are named", () => {
  const named = ["--restate-url", "http://r1:8080", "--restate-url", "http://r2:8080"];
  expect(parse(named)).toMatchObject({ restateAdminUrls: ["http://r1:9070", "http://r2:9070"] });
  const admin = ["--restate-admin-url", "http://admin:1"];
  expect(parse([...named, ...admin])).toMatchObject({ restateAdminUrls: ["http://admin:1"] });
});

test.each(["r1:8080x/", "ftp://r1", "http//r1"])("an address that is none is refused: %s", (url) => {
  expect(() => parse(["--restate-url", url])).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
});

test("without any engine the server says what it needs", () => {
  expect(() => parse([])).toThrow("give --embedded, or both --database-url and --restate-url");
});
