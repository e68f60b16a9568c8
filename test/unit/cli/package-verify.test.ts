import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/core/error-codes.ts";
import { sha256Hex } from "../../../src/trust/digest.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { signSums, sumsText } from "../../../src/trust/package-sums.ts";
import { fairlead, temporaryFolder } from "./support.ts";

const FILES = { "a.deb": "first", "b.tar.zst": "second" };

/** Two files and their list, with a key beside the folder. */
async function packages({ isSigned = true } = {}) {
  const above = await temporaryFolder();
  const folder = join(above, "packages");
  const keyFile = join(above, "packages.pub");
  const { signer } = generateSigner();
  const { key_id, public_key } = signer.record;
  await mkdir(folder);
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  const files = new Map(Object.entries(FILES).map(([name, text]) => [name, sha256Hex(text)]));
  const list = sumsText({ signedBy: isSigned ? key_id : null, files });
  await writeFile(join(folder, "SHA256SUMS"), list);
  if (isSigned) await writeFile(join(folder, "SHA256SUMS.sig"), signSums(list, signer));
  await writeFile(keyFile, `-----BEGIN PUBLIC KEY-----\n${public_key}\n-----END PUBLIC KEY-----\n`);
  return { at: (name: string) => join(folder, name), folder, keyFile, list, signer };
}

const verify = (...argv: string[]) => fairlead(["package", "verify", ...argv]);

describe("USE-7: package verify", () => {
  test("accepts a folder whose list is signed by the given key, and names the files as JSON", async () => {
    const { folder, keyFile, signer } = await packages();
    const text = await verify(folder, "--key", keyFile);
    expect(text).toMatchObject({ code: EXIT.ok, err: "" });
    expect(text.out).toBe(`2 files are as listed, signed by key ${signer.record.key_id.slice(0, 12)}\n`);
    expect((await verify(folder, "--key", keyFile, "--json")).json()).toMatchObject({
      ok: true,
      signature_checked: true,
      files: [{ name: "a.deb", sha256: sha256Hex("first") }, { name: "b.tar.zst" }],
      problems: [],
    });
  });

  test("without a key accepts what is listed, and says that nobody vouches for the list", async () => {
    const signed = await packages();
    expect((await verify(signed.folder)).out).toContain("give --key FILE to check its signature");
    const unsigned = await packages({ isSigned: false });
    expect(await verify(unsigned.folder)).toMatchObject({
      code: EXIT.ok,
      out: "2 files are as listed, and the list is unsigned\n",
    });
  });

  type Packages = Awaited<ReturnType<typeof packages>>;
  test.each<[string, (made: Packages) => Promise<unknown>, string]>([
    [
      "a file was changed",
      ({ at }) => writeFile(at("a.deb"), "First"),
      "a.deb: has another content than was listed",
    ],
    ["a file is missing", ({ at }) => rm(at("b.tar.zst")), "b.tar.zst: is missing"],
    ["a file was added", ({ at }) => writeFile(at("c.deb"), "third"), "c.deb: is not listed"],
    [
      "the signature is missing",
      ({ at }) => rm(at("SHA256SUMS.sig")),
      "SHA256SUMS.sig: is missing, and SHA256SUMS says signed",
    ],
    [
      "the list was changed after it was signed",
      ({ at, list }) => writeFile(at("SHA256SUMS"), list.replace(sha256Hex("first"), sha256Hex("other"))),
      "SHA256SUMS.sig: is no signature of this list by that key",
    ],
    [
      "the list was signed again by another key",
      async ({ at, list }) => {
        const { signer } = generateSigner();
        const forged = list.replace(/by \w+/, `by ${signer.record.key_id}`);
        await writeFile(at("SHA256SUMS"), forged);
        await writeFile(at("SHA256SUMS.sig"), signSums(forged, signer));
      },
      ", and --key is ",
    ],
    [
      "another key signed in the name of the given one",
      ({ at, list }) => writeFile(at("SHA256SUMS.sig"), signSums(list, generateSigner().signer)),
      "SHA256SUMS.sig: is no signature of this list by that key",
    ],
    [
      "the list was replaced by an unsigned one",
      async ({ at, list }) => {
        await writeFile(at("SHA256SUMS"), list.replace(/signed by \w+/, "unsigned"));
        await rm(at("SHA256SUMS.sig"));
      },
      "SHA256SUMS: is unsigned, and --key was given",
    ],
    [
      "the list says unsigned beside a signature",
      ({ at, list }) => writeFile(at("SHA256SUMS"), list.replace(/signed by \w+/, "unsigned")),
      "SHA256SUMS.sig: is there, and SHA256SUMS says unsigned",
    ],
  ])("refuses a folder when %s", async (_, change, problem) => {
    const made = await packages();
    await change(made);
    const refused = await verify(made.folder, "--key", made.keyFile);
    expect(refused.code).toBe(EXIT.untrusted);
    expect(refused.out).toContain(problem);
    expect(refused.err).toContain("what to do: install nothing from this folder");
  });

  test("says what is wrong with a folder that is not there, one without a list, and a private key", async () => {
    const { folder, at, keyFile } = await packages();
    expect(await verify(join(folder, "none"))).toMatchObject({ code: EXIT.notFound });
    await writeFile(keyFile, generateSigner().pem);
    expect((await verify(folder, "--key", keyFile)).err).toContain("this is a private key");
    await rm(at("SHA256SUMS"));
    expect((await verify(folder)).err).toContain("SHA256SUMS: there is no such file");
  });
});
