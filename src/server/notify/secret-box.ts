/**
 * Webhook secrets at rest.
 *
 * Every replica signs deliveries, so every replica needs the secrets, and the database is what replicas share. A copy
 * of the database alone must not be enough to sign as us: secrets are sealed with AES-256-GCM under a key that is derived
 * (HKDF) from the root key of the site's authority. That file lies in the keys folder (0600), never changes, and every
 * replica must have it already: there is no second file to carry along, and none to forget in a backup.
 *
 * 1. A sealed secret is bound to its webhook: put into another row it does not open.
 * 2. A nonce is never used twice: each is random, and each secret is sealed once.
 */
import { createCipheriv, createDecipheriv, createPrivateKey, hkdfSync, randomBytes } from "node:crypto";
import { join } from "node:path";
import { z } from "zod";
import type { WebhookId } from "../../core/protocol/incident-api.ts";
import { loadKeyFile } from "../identity/key-file.ts";
import { SITE_CA_FILE } from "../identity/site-ca.ts";

const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface SecretBox {
  seal(id: WebhookId, secret: string): Buffer;
  /** Throws when it was sealed under another key or for another webhook, or was changed. */
  open(id: WebhookId, sealed: Uint8Array): string;
}

const RootKey = z.object({ root: z.object({ key: z.string() }) });

/** The site's authority must be there. */
export async function loadSecretBox(keysDir: string): Promise<SecretBox> {
  const { root } = RootKey.parse(JSON.parse(await loadKeyFile(join(keysDir, SITE_CA_FILE))));
  const material = createPrivateKey(root.key).export({ type: "pkcs8", format: "der" });
  const key = Buffer.from(hkdfSync("sha256", material, "", "fairlead webhook secrets 1", KEY_BYTES));
  return {
    seal(id, secret) {
      const nonce = randomBytes(NONCE_BYTES); // (2)
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(id)); // (1)
      const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(id, sealed) {
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(id)).setAuthTag(tag); // (1)
      const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString("utf8");
    },
  };
}
