/** One replica of the control plane, put together: what is started last is stopped first. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../host/clock.ts";
import type { Logger } from "../host/log.ts";
import type { Shutdown } from "../host/shutdown.ts";
import { createDeliveryFinder } from "./agents/deliveries.ts";
import { createHeartbeatStore } from "./agents/heartbeats.ts";
import { createAgentListener } from "./agents/listener.ts";
import { createParcels } from "./agents/parcels.ts";
import { openPolls } from "./agents/polls.ts";
import { createRevokedReader } from "./agents/revoked.ts";
import { createReportStore } from "./agents/reports.ts";
import { createStandings } from "./agents/standings.ts";
import { registerAgentRoutes } from "./agents/routes.ts";
import { createOperatorsApp } from "./api/app.ts";
import { isInitialized, prepareFirstRun } from "./auth/first-run-secret.ts";
import { createOidcVerifier } from "./auth/oidc.ts";
import { createTokenService } from "./auth/tokens.ts";
import type { HostPort, ServerConfig } from "./config.ts";
import { confirmTime } from "./clock/confirm.ts";
import { createClockGate } from "./clock/gate.ts";
import { startClockWatch } from "./clock/watch.ts";
import { startEndingAbandoned } from "./db/abandoned.ts";
import { migrate } from "./db/migrate.ts";
import { createDiskCheck } from "./disk-check.ts";
import { connectEngine } from "./drive/engine.ts";
import { createGroupNudge, createNudge } from "./drive/nudge.ts";
import { createDriveThread } from "./drive/thread.ts";
import { startEngines } from "./engines.ts";
import { openEventStream } from "./events/stream.ts";
import { startHealthLoops } from "./health/loop.ts";
import { createCertificateRegistry } from "./identity/certificate-registry.ts";
import { ensureCluster } from "./identity/cluster.ts";
import { createEnrollListener } from "./identity/enroll-listener.ts";
import { createKeyRing } from "./identity/key-ring.ts";
import { registerRenewRoute } from "./identity/renewal.ts";
import { startReplicaLease } from "./identity/replica-lease.ts";
import { revokeNode } from "./identity/revocation.ts";
import { createServerCertificate } from "./identity/server-certificate.ts";
import { loadOrCreateSiteCa } from "./identity/site-ca.ts";
import { claimSiteFiles, refuseWithoutSiteFiles } from "./identity/site-files.ts";
import { serverCertificates, siteCertificates } from "./incidents/own-certificates.ts";
import { startIncidentWatch } from "./incidents/watch-loop.ts";
import { republishStale } from "./keys/republish.ts";
import { createKeyService } from "./keys/service.ts";
import { fileSigners } from "./keys/signer-store.ts";
import { createManifestReader } from "./manifests/reader.ts";
import { countStep, gaugeRollouts } from "./metrics/rollout-metrics.ts";
import { createMetricsListener } from "./metrics/metrics-listener.ts";
import { createServerMetrics } from "./metrics/server-metrics.ts";
import { gaugeState } from "./metrics/state-metrics.ts";
import { startNotifications } from "./notify/start.ts";
import { addressError, preflight } from "./preflight.ts";
import { createGroupService } from "./group/service.ts";
import { createRolloutService } from "./rollout/service.ts";
import { createBundleReader } from "./snapshots/bundles.ts";
import { announceEndpoint } from "./snapshots/endpoints.ts";
import { startSnapshotLoop } from "./snapshots/loop.ts";
import { FAIRLEAD_VERSION } from "../core/version.ts";

const CONSOLE_DIR = fileURLToPath(new URL("../../dist/console/", import.meta.url));

export interface Listening {
  readonly url: string;
  readonly agent_url: string;
  readonly enroll_url: string;
  readonly metrics_url: string | null;
  readonly first_run_secret_file: string | null;
}

export async function serve(config: ServerConfig, log: Logger, shutdown: Shutdown): Promise<Listening> {
  const clock = systemClock;
  const gate = createClockGate();
  gate.set({ closed: false, unproven: true, databaseMinusWallMs: 0 }); // until the clocks were compared once
  /** Dates certificates. */
  const agreed = { ...clock, now: gate.agreedNow };
  await preflight(config);

  const drive = createDriveThread((lost) => {
    log.error("drive worker exited", { error: lost });
    void shutdown.shutdown("drive worker exited").finally(() => process.exit(1));
  });
  shutdown.onShutdown("drive worker", drive.stop);
  // Registered before they are up: a signal in the middle of their start ends it, and waits until nothing of them is left.
  const starting = startEngines(config, log, shutdown.signal);
  shutdown.onShutdown("engines", async () =>
    starting.then(
      async (started) => started.stop(),
      () => undefined, // its failure is told by whoever started it
    ),
  );
  const engines = await starting;
  shutdown.signal.throwIfAborted();
  const { db } = engines;
  await migrate(db);
  const abandoned = startEndingAbandoned(db, log);
  shutdown.onShutdown("abandoned transactions", abandoned.stop);
  const clusterId = await ensureCluster(db);
  await refuseWithoutSiteFiles(db, config.keysDir, fileSigners(config.keysDir));
  const ring = await createKeyRing({ db, keysDir: config.keysDir, clusterId, log, clock: gate });
  shutdown.onShutdown("keys", ring.close);
  const ca = await loadOrCreateSiteCa(config.keysDir, clock);
  const tokens = await createTokenService(config.keysDir, clusterId, clock);
  await claimSiteFiles(db, config.keysDir, { caPin: ca.pin, tokenKeyId: tokens.keyId });
  const bundle = createBundleReader(db, clock.monotonic);
  const metrics = createServerMetrics();
  const diskProblems = await createDiskCheck(config, clock);

  gaugeRollouts(metrics, db);
  gaugeState(metrics, db);
  const polls = await openPolls(db);
  shutdown.onShutdown("polls", polls.close);
  const standings = createStandings(polls, clock.now);
  const parcels = createParcels(polls, standings, clock.now);
  const { database, restate: address } = engines;
  const { handlers, keysDir, logLevel } = config;
  shutdown.onShutdown("drive", drive.stop);
  await drive.start(
    { database, address, handlers, clusterId, keysDir, logLevel, from: polls.name, clock: gate.memory },
    { onCounts: (counts) => countStep(metrics, counts), onParcels: (each) => void parcels.deliver(each) },
  );
  const engine = connectEngine(address);
  shutdown.onShutdown("engine", engine.close);
  const nudge = createNudge({ db, engine, log });
  const nudgeGroup = createGroupNudge({ db, engine, log });
  const events = await openEventStream(db);
  shutdown.onShutdown("events", events.close);
  ring.onChange(() => {
    bundle.forget();
    polls.wakeAll();
  });
  await republishStale(db);

  const certificate = await createServerCertificate({ ca, names: config.names, clock: agreed, log });
  shutdown.onShutdown("certificate", certificate.close);
  const registry = createCertificateRegistry(db);
  const lease = await startReplicaLease({ db, clock, log, registry });
  shutdown.onShutdown("lease", lease.close);
  const clocks = await startClockWatch({ db, gate, log, replicaId: lease.id });
  shutdown.onShutdown("clocks", clocks.stop);

  const agents = createAgentListener({ clusterId, ca, certificate, registry, lease, clock, log });
  registerRenewRoute(agents, { db, clock: agreed, ca, clusterId });
  const revoked = createRevokedReader(db);
  registerAgentRoutes(agents, {
    db,
    polls,
    findDelivery: createDeliveryFinder(db, bundle, ring, revoked),
    revocationPage: revoked.page,
    standings,
    parcels,
    storeHeartbeat: createHeartbeatStore(db, (count) => metrics.heartbeats.add({ outcome: "stored" }, count)),
    storeReports: createReportStore(db, nudge, log),
    hearClock: clocks.hear,
    now: clock.now,
  });
  const agentUrl = await listen(agents, "--agent-listen", config.agentListen, "https", config.names[0]);
  shutdown.onShutdown("agents' listener", () => agents.close());
  await announceEndpoint(db, agentUrl);
  const snapshots = await startSnapshotLoop({ db, authority: ring, clock, metrics, log });
  shutdown.onShutdown("snapshots", snapshots.stop);

  const health = startHealthLoops({
    db,
    maintenanceLimitMs: config.maintenanceLimitMs,
    log,
    mayStep: gate.isOpen,
  });
  shutdown.onShutdown("health", health.stop);
  const own = { site: siteCertificates(ca), server: await serverCertificates(config.tls?.certFile) };
  const incidents = startIncidentWatch(db, own, log);
  shutdown.onShutdown("incidents", incidents.stop);
  const notifications = await startNotifications({ db, config, clusterId, clock, metrics, log });
  shutdown.onShutdown("notifications", notifications.stop);

  const enrollment = await createEnrollListener({
    db,
    clock: agreed,
    ca,
    clusterId,
    agentUrl: () => agentUrl,
    log,
    certificate,
  });
  const enrollUrl = await listen(
    enrollment,
    "--enroll-listen",
    config.enrollListen,
    "https",
    config.names[0],
  );
  shutdown.onShutdown("enrollment listener", () => enrollment.close());

  const firstRunSecretPath = join(config.dataDir, "first-run-secret");
  const firstRunFile = await prepareFirstRun(db, firstRunSecretPath);
  const manifests = createManifestReader(() => config.configDir);
  const intents = { clusterId, bundle: async () => (await bundle()).content };
  const steering = { db, manifests, intents, now: clock.now };
  const rollouts = createRolloutService({ ...steering, nudge });
  const operators = await createOperatorsApp({
    db,
    clock,
    log,
    metrics,
    clusterId,
    ca,
    ring,
    keys: createKeyService({ db, clock, ring }),
    tokens,
    oidc: config.oidc === null ? null : createOidcVerifier(config.oidc, clock),
    firstRunSecretPath,
    enrollUrl: () => enrollUrl,
    manifests,
    rollouts,
    groups: createGroupService({ ...steering, nudgeGroup }),
    webhooks: notifications.webhooks,
    events,
    revokeNode: (id, actor, reason) => revokeNode(db, id, actor, reason),
    confirmTime: (request, actor) => confirmTime({ db, now: clock.now, watch: clocks }, request, actor),
    ready: async () => {
      const reasons = [
        ...((await isInitialized(db)) ? [] : ["no trust bundle yet: run fairlead init"]),
        ...((await drive.answers()) ? [] : ["the engine does not answer"]),
        ...[ring.problem()].filter((problem) => problem !== null),
        ...[clocks.problem()].flatMap((problem) => (problem === null ? [] : [`CLOCK_DISAGREES: ${problem}`])),
        ...(lease.isHeld() ? [] : ["this replica's lease has lapsed"]),
        ...(await diskProblems()),
      ];
      return { ready: reasons.length === 0, reasons };
    },
    listenHost: config.listen.host,
    consoleDir: CONSOLE_DIR,
    version: FAIRLEAD_VERSION,
    ...(config.tls === undefined ? {} : { tls: config.tls }),
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
  });
  const url = await listen(operators, "--listen", config.listen, config.tls === undefined ? "http" : "https");
  shutdown.onShutdown("operators' listener", () => operators.close());
  const metricsUrl = await listenForMetrics();
  return {
    url,
    agent_url: agentUrl,
    enroll_url: enrollUrl,
    metrics_url: metricsUrl,
    first_run_secret_file: firstRunFile,
  };

  async function listenForMetrics(): Promise<string | null> {
    if (config.metricsListen === null) return null;
    const scraped = createMetricsListener(metrics, log);
    shutdown.onShutdown("metrics' listener", () => scraped.close());
    return `${await listen(scraped, "--metrics-listen", config.metricsListen, "http")}/metrics`;
  }
}

interface Listener {
  listen(options: { host: string; port: number }): Promise<string>;
  readonly server: { address(): unknown };
}

async function listen(
  app: Listener,
  flag: string,
  address: HostPort,
  scheme: string,
  name?: string,
): Promise<string> {
  await app.listen({ ...address }).catch((error: unknown) => {
    throw addressError(flag, address, error);
  });
  const bound = (app.server.address() as { port: number }).port;
  // Only the operators' own address may be that of every interface: to them it is shown as they reach it here.
  const shown = name ?? (address.host === "0.0.0.0" || address.host === "::" ? "127.0.0.1" : address.host);
  return `${scheme}://${shown.includes(":") ? `[${shown}]` : shown}:${bound}`;
}
