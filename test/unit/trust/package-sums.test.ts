import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { isSumsSignature, parseSums, signSums, sumsText } from "../../../src/trust/package-sums.ts";

const sum = fc.stringMatching(/^[0-9a-f]{64}$/);
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,40}$/);
const sums = fc.record({
  signedBy: fc.constantFrom(null, generateSigner().signer.record.key_id),
  files: fc.array(fc.tuple(name, sum), { maxLength: 8 }).map((pairs) => new Map(pairs)),
});

const A = "a".repeat(64);
const HEADING = "# Fairlead packages, unsigned\n";

describe("SHA256SUMS", () => {
  test("says again what was written, sorted by name", () => {
    fc.assert(
      fc.property(sums, (wanted) => {
        const read = parseSums(sumsText(wanted));
        expect(read.signedBy).toBe(wanted.signedBy);
        expect([...read.files]).toEqual([...wanted.files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
      }),
    );
  });

  test.each([
    ["an empty file", ""],
    ["a list without its first line", `${A}  x.deb\n`],
    ["a path that leaves the folder", `${HEADING}${A}  ../x.deb\n`],
    ["a path below the folder", `${HEADING}${A}  a/x.deb\n`],
    ["a hidden file", `${HEADING}${A}  .x\n`],
    ["a file twice", `${HEADING}${A}  x.deb\n${A}  x.deb\n`],
    ["files in another order", `${HEADING}${A}  y.deb\n${A}  x.deb\n`],
    ["a sum in capitals", `${HEADING}${"A".repeat(64)}  x.deb\n`],
    ["a missing newline at the end", `${HEADING}${A}  x.deb`],
    ["an empty line at the end", `${HEADING}${A}  x.deb\n\n`],
    ["carriage returns", `${HEADING}${A}  x.deb\r\n`],
    ["a comment in the list", `${HEADING}# more\n${A}  x.deb\n`],
    ["a key id that is none", `# Fairlead packages, signed by me\n${A}  x.deb\n`],
  ])("is refused with %s", (_, text) => {
    expect(() => parseSums(text)).toThrow(FairleadError);
  });

  test("is never read from any other text without an error that says so", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseSums(`${HEADING}${text}x`)).toThrow(FairleadError);
      }),
    );
  });

  test("is signed by one key, and every changed byte of list or signature is refused", () => {
    const { signer } = generateSigner();
    const text = sumsText({ signedBy: signer.record.key_id, files: new Map([["x.deb", A]]) });
    const signature = signSums(text, signer);
    expect(isSumsSignature(text, signature, signer.record)).toBe(true);
    expect(isSumsSignature(text, signature, generateSigner().signer.record)).toBe(false);
    expect(isSumsSignature(text.replace("x.deb", "y.deb"), signature, signer.record)).toBe(false);
    expect(isSumsSignature(text, signature.trimEnd(), signer.record)).toBe(false);
    expect(isSumsSignature(text, "\n", signer.record)).toBe(false);
    const bytes = Buffer.from(signature, "base64");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(isSumsSignature(text, `${changed.toString("base64")}\n`, signer.record)).toBe(false);
    }
  });
});
