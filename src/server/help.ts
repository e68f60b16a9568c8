export const SERVER_HELP = `Usage: fairlead server --data-dir DIR (--embedded | --database-url URL --restate-url URL)

Runs a control plane. With --embedded it starts its own PostgreSQL and Restate inside the data folder.

Options:
  --data-dir DIR            keys, first-run secret and embedded data (required)
  --embedded                start PostgreSQL and Restate here
  --ephemeral               with --embedded: begin empty, remove the data at the end (for demos and tests)
  --database-url URL        an existing PostgreSQL 15 or newer
  --restate-url URL         an existing Restate's ingress; again for each node of its cluster
  --restate-admin-url URL   its admin address, as often (default: port 9070 of the same hosts)
  --restate-identity KEY    its request identity, publickeyv1_…
  --handlers-listen HOST:PORT   where Restate calls this server (default 127.0.0.1, any port)
  --handlers-reuse-port     several servers of this machine share that port
  --handlers-url URL        that address as Restate sees it, when it differs
  --keys-dir DIR            keys shared by replicas: copy them to each (default: DATA_DIR/keys)
  --config-dir DIR          manifests, as upgrades/PROFILE/ID.yaml (default: DATA_DIR/config)
  --listen HOST:PORT        operators and console (default 127.0.0.1:7400)
  --agent-listen HOST:PORT  agents, mutual TLS (default 127.0.0.1:7401)
  --enroll-listen HOST:PORT enrollment, TLS (default 127.0.0.1:7402)
  --name HOST               a name agents reach this server by; repeat for more. Needed with 0.0.0.0 and [::]
  --metrics-listen HOST:PORT    Prometheus metrics, plain HTTP without a token (default: none are served)
  --tls-cert FILE, --tls-key FILE   TLS for operators; needed beyond loopback
  --public-url URL          the operators' address, when it differs
  --oidc-issuer URL, --oidc-audience TEXT, --oidc-jwks-url URL   sign-in by OpenID
  --maintenance-limit MINUTES   free nodes stuck in maintenance after this time (default 30)
  --webhook-allow-private   webhooks may lead to loopback and private addresses
  --nats-url URL            tell events to NATS: nats://HOST:4222 or tls://…, several with commas
  --nats-credentials FILE   its credentials file, mode 0600
  --nats-ca FILE            the authority of its certificate (default: those that the system trusts)
  --log-level LEVEL         debug, info, warn, error (default info)

Example:
  fairlead server --embedded --data-dir /var/lib/fairlead
  fairlead server --data-dir /var/lib/fairlead --keys-dir /etc/fairlead/keys --database-url postgres://fairlead@db/fairlead --restate-url http://r1:8080 --restate-url http://r2:8080 --handlers-listen 0.0.0.0:9080 --handlers-url http://handlers:9080
`;
