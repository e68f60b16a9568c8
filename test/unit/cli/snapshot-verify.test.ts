import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import {
  assignmentFrame,
  at,
  bundleFrame,
  HOUR_MS,
  newKeys,
  newSigner,
  NODE,
  NOW,
  OTHER_NODE,
} from "../../support/trust.ts";
import { fairlead, temporaryFolder } from "./support.ts";

const keys = newKeys();

interface Verdict {
  readonly kind: string;
  readonly step?: number;
  readonly code?: keyof typeof ERROR_CODES;
  readonly field?: string;
  readonly remedy?: string;
  readonly checks: { readonly step: number; readonly outcome: string }[];
}

async function verify(frame: Buffer, { bundle = bundleFrame(keys), words = [] as string[] } = {}) {
  const folder = await temporaryFolder();
  const [file, bundleFile] = [join(folder, "s.frame"), join(folder, "b.frame")];
  await writeFile(file, frame);
  await writeFile(bundleFile, bundle);
  const argv = [
    "snapshot",
    "verify",
    file,
    "--bundle",
    bundleFile,
    "--node",
    NODE,
    "--at",
    at(NOW),
    ...words,
  ];
  return { text: await fairlead(argv), json: await fairlead([...argv, "--json"]) };
}

describe("snapshot verify, offline (SNAP-7)", () => {
  test("SNAP-7: a good snapshot passes the twelve checks, each named", async () => {
    const { text, json } = await verify(assignmentFrame(keys));
    expect([text.code, json.code]).toEqual([0, 0]);
    expect(text.out.split("\n").filter((line) => /^ ?\d+ {2}ok {11}/.test(line))).toHaveLength(12);
    expect(text.out).toContain("accepted: service_assignment version 1 (epoch 1), until ");
    expect(text.err).toContain("roles and organizations were taken from the header");
    expect(json.json<Verdict>().checks.every(({ outcome }) => outcome === "ok")).toBe(true);
  });

  const bent = (frame: Buffer): Buffer => {
    const copy = Buffer.from(frame);
    const place = copy.length - 10;
    copy[place] = copy[place] === 0x41 ? 0x42 : 0x41;
    return copy;
  };

  test.each<[string, number, string, Buffer, string[]]>([
    ["bytes that are none", 1, "SNAPSHOT_MALFORMED", Buffer.from("nothing"), []],
    ["another cluster's", 2, "SNAPSHOT_WRONG_CLUSTER", assignmentFrame(keys), ["--cluster", OTHER_NODE]],
    ["another node's", 3, "SNAPSHOT_WRONG_NODE", assignmentFrame(keys), ["--node", OTHER_NODE]],
    [
      "an unknown signer's",
      4,
      "SNAPSHOT_KEY_UNTRUSTED",
      assignmentFrame(keys, { signers: [newSigner()] }),
      [],
    ],
    ["an expired one", 7, "SNAPSHOT_TIME_REFUSED", assignmentFrame(keys), ["--at", at(NOW + 25 * HOUR_MS)]],
    [
      "one of a later epoch",
      8,
      "SNAPSHOT_EPOCH_UNKNOWN",
      assignmentFrame(keys, { header: { authority_epoch: 2 } }),
      [],
    ],
    ["one for another role", 10, "SNAPSHOT_SCOPE_EXCEEDED", assignmentFrame(keys), ["--roles", "thin"]],
    [
      "one with a wrong content",
      11,
      "SNAPSHOT_CONTENT_INVALID",
      assignmentFrame(keys, { content: { assignments: [1] } }),
      [],
    ],
  ])(
    "SNAP-7: %s is refused at check %i, with field, remedy and exit code 8",
    async (_what, step, code, frame, words) => {
      const { text, json } = await verify(frame, { words });
      expect([text.code, json.code]).toEqual([8, 8]);
      const verdict = json.json() as Verdict;
      expect(verdict).toMatchObject({ kind: "rejected", step, code });
      expect(verdict.remedy).toBe(ERROR_CODES[verdict.code!].next);
      expect(verdict.checks.map(({ outcome }) => outcome).indexOf("failed")).toBe(step - 1);
      expect(text.out).toContain(`${String(step).padStart(2)}  failed       `);
      expect(text.out).toContain(`${verdict.field}: `);
      expect(text.out).toContain(`what to do: ${verdict.remedy}`);
    },
  );

  test("SNAP-7: a bit of the signature changed is refused", async () => {
    const { json } = await verify(bent(assignmentFrame(keys)));
    expect(json.code).toBe(8);
    expect(json.json<Verdict>().step).toBeLessThanOrEqual(5);
  });

  test("SNAP-8: a bundle that its own root keys did not sign is not believed", async () => {
    const lone = bundleFrame(keys, { signers: [keys.roots[0]] });
    const { json } = await verify(assignmentFrame(keys), { bundle: lone });
    expect([json.code, json.json<{ error: { code: string } }>().error.code]).toEqual([8, "BUNDLE_REFUSED"]);
    const other = await verify(assignmentFrame(keys), { bundle: assignmentFrame(keys) });
    expect(other.text.err).toContain("error BUNDLE_REFUSED: --bundle: it is no trust bundle");
  });

  test("USE-2: a file that is not there and a time that is none are named", async () => {
    const argv = ["snapshot", "verify", "/nowhere", "--bundle", "/nowhere", "--node", NODE];
    expect((await fairlead(argv)).err).toContain("the snapshot /nowhere: there is no such file");
    const noon = await fairlead([...argv, "--at", "noon"]);
    expect(noon.code).toBe(2);
    expect(noon.err).toContain("--at: ");
  });
});
