// An agent as the server sees it: a key, a signing request, and TLS requests with or without a certificate.

import "reflect-metadata";
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import * as https from "node:https";
import { Pkcs10CertificateRequestGenerator } from "@peculiar/x509";

export interface NodeKey {
  readonly pem: string;
  readonly csr: string;
}

const ALGORITHMS = {
  "P-256": { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  "P-384": { name: "ECDSA", namedCurve: "P-384", hash: "SHA-384" },
  Ed25519: { name: "Ed25519" },
} as const;
export type KeyKind = keyof typeof ALGORITHMS;

function newPem(kind: KeyKind): string {
  const { privateKey } =
    kind === "Ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: kind });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** `signWith` another key makes a request for a key that the asker does not hold. */
export async function newNodeKey(
  kind: KeyKind = "P-256",
  { subject = "CN=whatever-the-node-says", signWith }: { subject?: string; signWith?: string } = {},
): Promise<NodeKey> {
  const pem = newPem(kind);
  const algorithm = ALGORITHMS[kind];
  const request = await Pkcs10CertificateRequestGenerator.create({
    name: subject,
    keys: {
      // The DOM's and Node's types of one and the same key differ.
      privateKey: createPrivateKey(signWith ?? pem).toCryptoKey(algorithm, false, ["sign"]) as CryptoKey,
      publicKey: createPublicKey(pem).toCryptoKey(algorithm, true, ["verify"]) as CryptoKey,
    },
    signingAlgorithm: algorithm,
  });
  return { pem, csr: request.toString("pem") };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface AskOptions {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: unknown;
  readonly agent?: https.Agent;
  readonly headers?: Record<string, string>;
}

/**
 * One request; rejects when TLS or the connection fails. On its own connection unless an agent is given: a pooled
 * one may be just being cut by a revocation, and would answer with a hang-up in place of the refusal.
 */
export function ask(url: string, { json, headers = {}, ...options }: AskOptions): Promise<Answer> {
  const body = json === undefined ? undefined : JSON.stringify(json);
  return new Promise((resolve, reject) => {
    const request = https.request(
      url,
      {
        agent: false,
        ...options,
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text === "" ? null : JSON.parse(text),
          });
        });
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

export const codeOf = (answer: Answer): string =>
  (answer.body as { error?: { code?: string } } | null)?.error?.code ?? `HTTP ${answer.status}`;
