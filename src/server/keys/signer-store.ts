/**
 * Where the private halves of online keys are: behind this port. Files today; a hardware token has the same three verbs.
 *
 * 1. A key file appears whole, 0600, and never in place of another.
 * 2. No private half leaves the store: what comes out can sign, and cannot be read.
 */
import { join } from "node:path";
import type { KeyId } from "../../core/ids.ts";
import { createExclusive, removeDurable } from "../../host/durable-write.ts";
import { nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory } from "../../host/files.ts";
import { generateSigner, signerFromPem, type Signer } from "../../trust/keys.ts";
import { FairleadError } from "../../core/errors.ts";
import { loadKeyFile } from "../identity/key-file.ts";

export interface SignerStore {
  /** Every key that is here now. */
  load(): Promise<ReadonlyMap<KeyId, Signer>>;
  make(): Promise<Signer>;
  forget(keyId: KeyId): Promise<void>;
}

const ONLINE_KEY_FILE = /^online-key(?:-[0-9a-f]{16})?\.pem$/;

export function fileSigners(keysDir: string): SignerStore {
  const known = new Map<string, Signer>();

  async function files(): Promise<Map<string, Signer>> {
    await ensureDirectory(keysDir, 0o700);
    const names = (await nodeFileSystem.readdir(keysDir)).filter((name) => ONLINE_KEY_FILE.test(name));
    for (const name of known.keys()) if (!names.includes(name)) known.delete(name);
    for (const name of names)
      if (!known.has(name)) known.set(name, signerFromPem(await loadKeyFile(join(keysDir, name))));
    return known;
  }

  return {
    async load() {
      return new Map([...(await files()).values()].map((signer) => [signer.record.key_id, signer]));
    },
    async make() {
      await ensureDirectory(keysDir, 0o700);
      const { signer, pem } = generateSigner();
      const path = join(keysDir, `online-key-${signer.record.key_id.slice(0, 16)}.pem`);
      const claim = await createExclusive(path, pem); // (1)
      if (claim.kind === "exists") throw new FairleadError("INTERNAL", `${path} exists already`);
      return signer;
    },
    async forget(keyId) {
      for (const [name, signer] of await files())
        if (signer.record.key_id === keyId) {
          await removeDurable(join(keysDir, name));
          known.delete(name);
        }
    },
  };
}
