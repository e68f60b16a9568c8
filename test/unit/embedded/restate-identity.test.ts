import { expect, test } from "vitest";
import { base58, publicIdentity } from "../../../src/server/embedded/restate-identity.ts";

test.each([
  ["", ""],
  ["00", "1"],
  ["000001", "112"],
  ["61", "2g"],
  ["626262", "a3gV"],
  ["73696d706c792061206c6f6e6720737472696e67", "2cFupjhnEsSn59qHXstmK2ffpLv2"],
  ["00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"],
])("%j is %j in base 58, as Bitcoin's own vectors have it", (hex, text) => {
  expect(base58(Buffer.from(hex, "hex"))).toBe(text);
});

test("the public identity follows from the private key alone, and is no part of it", () => {
  const pem = [
    "-----BEGIN PRIVATE KEY-----",
    "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g",
    "-----END PRIVATE KEY-----",
  ].join("\n");
  // RFC 8032, test 1: d75a9801… is the public key of 9d61b19d….
  const key = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
  expect(publicIdentity(pem)).toBe(`publickeyv1_${base58(key)}`);
  expect(() => publicIdentity("no key")).toThrow();
});
