// A NATS operator with one account and one user in it, made as its own tools make them: each signs a token for the next.

import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

export interface NatsAccounts {
  /** Lines of the server's configuration. */
  readonly configuration: string;
  /** The user's credentials file. */
  readonly credentials: string;
}

export function natsAccounts(): NatsAccounts {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const everything = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, conn: -1, leaf: -1 };
  const accountToken = token(operator, account, "account", { limits: everything });
  const configuration = [
    `operator: ${token(operator, operator, "operator", {})}`,
    "resolver: MEMORY",
    `resolver_preload: { ${account.getPublicKey()}: ${accountToken} }`,
  ].join("\n");
  const pass = token(account, user, "user", { subs: -1, data: -1, payload: -1 });
  return { configuration, credentials: credentialsOf(pass, Buffer.from(user.getSeed()).toString()) };
}

function token(issuer: nkeys.KeyPair, subject: nkeys.KeyPair, type: string, nats: object): string {
  const claims = {
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    name: type,
    sub: subject.getPublicKey(),
    nats: { ...nats, type, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("hex");
  const text = [
    { typ: "JWT", alg: "ed25519-nkey" },
    { jti, ...claims },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

const credentialsOf = (pass: string, seed: string): string => `-----BEGIN NATS USER JWT-----
${pass}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
