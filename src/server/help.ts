export const SERVER_HELP = `Usage: fairlead server --data-dir DIR (--embedded | --database-url URL --restate-url URL)

Runs a control plane. With --embedded it starts its own PostgreSQL and Restate inside the data folder.

Options:
  --data-dir DIR            keys, first-run secret and embedded data (required)
  --embedded                start PostgreSQL and Restate here
  --ephemeral               with --embedded: begin empty, remove the data at the end (for demos and tests)
  --database-url URL        an existing PostgreSQL 15 or newer
  --restate-url URL         an existing Restate's ingress
  --restate-admin-url URL   its admin address (default: port 9070 of the same host)
  --restate-identity KEY    its request identity, publickeyv1_…
  --handlers-listen HOST:PORT   where Restate calls this server (default 127.0.0.1, any port)
  --handlers-url URL        that address as Restate sees it, when it differs
  --keys-dir DIR            keys shared by replicas (default: DATA_DIR/keys)
  --config-dir DIR          manifests, as upgrades/PROFILE/ID.yaml (default: DATA_DIR/config)
  --listen HOST:PORT        operators and console (default 127.0.0.1:7400)
  --agent-listen HOST:PORT  agents, mutual TLS (default 127.0.0.1:7401)
  --enroll-listen HOST:PORT enrollment, TLS (default 127.0.0.1:7402)
  --name HOST               a name agents reach this server by; repeat for more
  --tls-cert FILE, --tls-key FILE   TLS for operators; needed beyond loopback
  --public-url URL          the operators' address, when it differs
  --oidc-issuer URL, --oidc-audience TEXT, --oidc-jwks-url URL   sign-in by OpenID
  --log-level LEVEL         debug, info, warn, error (default info)

Example:
  fairlead server --embedded --data-dir /var/lib/fairlead
`;
