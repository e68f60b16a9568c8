/**
 * One more root signature on a trust bundle, on a machine that needs no network.
 *
 * 1. What it changes is said in words before the key is used.
 * 2. A bundle that was altered since somebody signed it is refused: nobody adds a signature to another one's forgery.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { writeDurable } from "../../host/durable-write.ts";
import { addRootSignature } from "../../trust/bundle-draft.ts";
import { decodeFrame } from "../../trust/frame.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Call, Result } from "../call.ts";
import { contextStore } from "../context.ts";
import { believeByPin, openBundle, type BelievedBundle } from "../keys/believe.ts";
import { BUNDLE_BYTES_MAX, readCopy } from "../keys/bundle-copy.ts";
import { confirm } from "../keys/confirm.ts";
import { describeBundle } from "../keys/describe.ts";
import { missingSignatures } from "../keys/draft.ts";
import { refuseAltered } from "../keys/refuse-altered.ts";
import { rootSigners } from "../keys/root-signers.ts";
import { readNamedFile } from "../operator-files.ts";
import { optionsOf } from "../options.ts";

const Options = z.object({ key: z.array(z.string()), out: z.string().optional() });

export async function run(call: Call): Promise<Result> {
  const { key, out } = optionsOf(Options, call.options);
  const file = call.args[0]!;
  const bundle = openBundle(await readNamedFile("<file>", file, BUNDLE_BYTES_MAX));
  const { before, releaseKeyFile } = await knownHere(call, bundle);
  const roots = before?.content.root ?? bundle.content.root;
  refuseAltered(bundle, before); // (2)
  const known = { ...roots, keys: [...roots.keys, ...bundle.content.root.keys] };
  const signers = await rootSigners("--key", key, releaseKeyFile, known);
  await confirm(call, describeBundle(bundle, before), "Sign it?"); // (1)
  const fresh = notYetSigned(bundle, signers);
  let frame = bundle.frame;
  for (const signer of fresh) frame = addRootSignature(frame, signer);
  const path = resolve(out ?? file);
  await writeDurable(path, frame, { mode: 0o600 });
  const missing = missingSignatures(frame, roots, bundle.content.root);
  const signedBy = fresh.map(({ record }) => record.key_id);
  return {
    data: { file: path, version: bundle.header.config_version, signed_by: signedBy, missing: missing.count },
    text: path,
    notes:
      missing.count === 0
        ? `enough have signed it: fairlead root publish ${path}`
        : `${missing.count} more needed, of: ${missing.of.map((id) => id.slice(0, 12)).join(", ")}`,
  };
}

function notYetSigned({ frame }: BelievedBundle, signers: readonly Signer[]): Signer[] {
  const signed = decodeFrame(frame).signatures.map(({ key_id }) => key_id);
  const fresh = signers.filter(({ record }) => !signed.includes(record.key_id));
  if (fresh.length > 0) return fresh;
  throw new FairleadError("INVALID_INPUT", "every root key named here has signed it already");
}

/** What this machine knows of the site, if it knows it at all: an offline one may hold nothing but a key. */
async function knownHere(
  call: Call,
  bundle: BelievedBundle,
): Promise<{ before: BelievedBundle | null; releaseKeyFile: string | null }> {
  const store = contextStore(call.io.env);
  if (call.context === undefined && (await store.current()) === undefined)
    return { before: null, releaseKeyFile: null };
  const { name, context } = await store.load(call.context);
  const releaseKeyFile = context.release_key_file;
  if (context.pins === null) return { before: null, releaseKeyFile };
  if (context.pins.cluster_id !== bundle.header.cluster_id)
    throw new FairleadError(
      "PIN_MISMATCH",
      `the bundle is for cluster ${bundle.header.cluster_id}, context ${name} is not`,
    );
  const copy = await readCopy(call.io.env, name);
  return { before: copy === undefined ? null : believeByPin(copy, context.pins), releaseKeyFile };
}
