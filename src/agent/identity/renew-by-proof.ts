/** Asks for the next certificate where TLS does not take the present one: its key signs the request instead. */
import { sign } from "node:crypto";
import { RENEWAL_PROOF_DOMAIN, RenewResponse } from "../../core/protocol/agent-api.ts";
import { createHttpClient, jsonOf, type HttpTarget } from "../../host/bounded-http.ts";
import { serverError } from "../link/server-error.ts";
import type { Identity } from "./store.ts";

export async function renewByProof(
  enrollUrl: string,
  { ca, private_key, certificate_chain }: Identity,
  csr: string,
  undated: NonNullable<HttpTarget["undated"]>,
): Promise<string> {
  const client = createHttpClient({
    origin: new URL(enrollUrl).origin,
    tls: { ca, minVersion: "TLSv1.3" },
    undated,
  });
  try {
    const proof = sign("sha256", Buffer.from(`${RENEWAL_PROOF_DOMAIN}${csr}`), private_key);
    const [certificate] = certificate_chain.split(/(?<=-----END CERTIFICATE-----)/);
    const response = await client.request("/enroll/v1/renew", {
      method: "POST",
      json: { csr, certificate, proof: proof.toString("base64") },
    });
    if (response.status >= 300) throw serverError(response);
    return RenewResponse.parse(jsonOf(response)).certificate_chain;
  } finally {
    client.close();
  }
}
