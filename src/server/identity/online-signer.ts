/** The first key of the control plane, made before there is a trust bundle that names it. */
import { join } from "node:path";
import { ensureDirectory } from "../../host/files.ts";
import { generateSigner, signerFromPem, type Signer } from "../../trust/keys.ts";
import { loadOrCreateKeyFile } from "./key-file.ts";

export async function loadOrCreateOnlineSigner(keysDir: string): Promise<Signer> {
  await ensureDirectory(keysDir);
  return signerFromPem(
    await loadOrCreateKeyFile(join(keysDir, "online-key.pem"), () => generateSigner().pem),
  );
}
