/** Every bound of the system, with its unit in the name. Nothing from outside is read without one. */
export const LIMITS = {
  // Snapshots and commands
  snapshotHeaderBytesMax: 8 * 1024,
  snapshotContentBytesMax: 4 * 1024 * 1024,
  snapshotSignaturesMax: 16,
  /** Of the answer to one poll: a server puts no more into it, and an agent reads no more. */
  pollAnswerBytesMax: 16 * 1024 * 1024,
  commandLifetimeMs: 15 * 60_000,
  assignmentLifetimeMs: 24 * 3_600_000,
  intentLifetimeMs: 24 * 3_600_000,
  snapshotLifetimeMs: 7 * 24 * 3_600_000,
  headLifetimeMs: 5 * 60_000,
  headRefreshMs: 60_000,
  /** Without an answer for this long, a node is on its own. */
  contactLostMs: 90_000,
  snapshotVersionsKept: 4,
  keyRetireDeadlineMs: 7 * 24 * 3_600_000,
  /** How far a signed time may lie ahead of the later of a node's clock and its floor (SNAP-17). */
  issuedAheadMaxMs: 15 * 60_000,
  /** A clock that shows an earlier time, or one this far behind the floor, is unset: a node without a battery. */
  clockUnsetBeforeMs: Date.UTC(2026, 0, 1),
  clockBehindFloorMaxMs: 24 * 3_600_000,
  /** Clocks of one control plane that differ by more stop its signing. */
  clockDisagreeMs: 60_000,
  /** The same for the clocks of nodes, which are heard over the network after the control plane starts. */
  nodeClockDisagreeMs: 5 * 60_000,
  nodeClocksMin: 3,
  clockLookMs: 1_000,
  /** A start later than this after the time was last proven waits for nodes: a node renews its certificate with this left. */
  clockAbsenceMaxMs: 10 * 24 * 3_600_000,
  /** The wall clock is compared with the monotonic clock over at most this long: small corrections do not add up. */
  clockBaselineMs: 3_600_000,
  /** How far a node's clock may run behind the signer's before a fresh snapshot is not yet valid to it. */
  clockSkewMs: 5 * 60_000,
  merkleProofDepthMax: 32,

  /** More commands than one node gets between a backup and its restore. */
  commandSequenceGap: 1_000_000,

  // API
  requestBytesMax: 2 * 1024 * 1024,
  agentRequestBytesMax: 64 * 1024,
  manifestBytesMax: 256 * 1024,
  listPageMax: 500,
  reasonCharsMax: 500,
  operatorTokenLifetimeMs: 15 * 60_000,
  consoleSessionLifetimeMs: 8 * 3_600_000,
  signInCodeLifetimeMs: 10 * 60_000,
  /** Per address. */
  failedSignInsPerMinuteMax: 300,
  enrollmentKeyUsesMax: 10_000,
  failedEnrollmentsPerMinuteMax: 1_200,

  /** Nodes that one step of a rollout launches; the next step follows at once. */
  launchesPerStep: 500,
  /** Nodes whose health one step judges, likewise. */
  settlesPerStep: 2_000,
  groupComponentsMax: 32,

  /** Of the server's data folder: with less, PostgreSQL and Restate stop at their next large write. */
  diskFreeBytesMin: 64 * 1024 * 1024,

  // Agents
  heartbeatIntervalMs: 30_000,
  heartbeatUpgradeIntervalMs: 10_000,
  pollWaitMaxMs: 25_000,
  /** Of one node at one replica, sustained and at once: see `src/server/agents/request-budget.ts`. */
  nodeRequestsPerSecondMax: 20,
  nodeRequestsBurstMax: 300,
  enrollmentTokenLifetimeMs: 24 * 3_600_000,
  nodeCertificateLifetimeMs: 30 * 24 * 3_600_000,
  /** For this long after its end a certificate still proves who asks for the next one: a fleet that was switched off. */
  nodeCertificateGraceMs: 180 * 24 * 3_600_000,
  replicaLeaseMs: 5_000,

  // Rollouts
  batchNodesMax: 10_000,
  rolloutNodesMax: 100_000,
  healthWaitDefaultMs: 60_000,
  healthWaitMaxMs: 7 * 24 * 3_600_000,
  healthHeartbeatGraceMs: 45_000,
  healthRecheckMs: 500,
  /** How often a rollout looks whether nodes are back from another program's upgrade. */
  othersRecheckMs: 2_000,
  crashLoopRestarts: 3,
  /** Without a heartbeat for this long during its upgrade, a node is shown as silent: three beats were missed. */
  nodeSilentMs: 30_000,
  /** After so long a silence a node at work is given up (`node_silence_max`). */
  nodeSilenceMaxDefaultMs: 5 * 60_000,
  nodeSilenceMaxMaxMs: 24 * 3_600_000,
  maxAttemptsDefault: 3,
  configFilesMax: 64,
  configFileBytesMax: 1024 * 1024,
  /** All distinct files of one rollout together: rendered per node, they add up. */
  rolloutConfigBytesMax: 64 * 1024 * 1024,
  templateBytesMax: 256 * 1024,
  templateNestingMax: 100,
  templateRenderMs: 1_000,
  rolloutRenderMs: 60_000,
  templateVariablesMax: 200,
  templateValueCharsMax: 4096,

  /** Programs on one node. */
  nodeProfilesMax: 16,

  // Health of nodes outside upgrades
  heartbeatLateMs: 90_000,
  heartbeatLostMs: 180_000,
  /** How long a program may be critical or stalled before its node is degraded. */
  programIllMs: 60_000,
  /** How long a degraded program may be critical without a break before it is failed. */
  programFailedMs: 10 * 60_000,
  /** How long a node must be well without a break before it is active again. */
  recoveryMs: 60_000,
  crashLoopWindowMs: 10 * 60_000,
  healthLookMs: 5_000,
  /** Nobody looked for this long: what was not heard in the meantime says nothing about the nodes. */
  healthGapMs: 30_000,
  /** After an absence of the control plane: agents retry every 15 s at most, deliver their outbox and beat. */
  reconnectGraceMs: 60_000,
  maintenanceLimitMs: 30 * 60_000,

  // Reports about commands that the database does not know
  /** Of one node, noted at a time. */
  unknownReportsMax: 100,
  unknownReportKeptMs: 7 * 24 * 3_600_000,

  // Incidents outside upgrades
  /** Trouble that was not seen for this long is over: a node that flaps is one incident. */
  incidentQuietMs: 5 * 60_000,
  /** More of one category at a time are one incident about all of them. */
  incidentsPerCategoryMax: 20,
  /** Of a node's 30 days; its agent renews with ten days left. */
  nodeCertificateEndingMs: 5 * 24 * 3_600_000,
  certificateEndingMs: 21 * 24 * 3_600_000,
  keyEndingMs: 30 * 24 * 3_600_000,

  // Notifications
  webhooksMax: 100,
  webhookTimeoutMs: 10_000,
  webhookAttemptsMax: 10,
  webhookRetryBaseMs: 5_000,
  webhookRetryMaxMs: 6 * 3_600_000,
  deliveriesKeptMs: 30 * 24 * 3_600_000,
  natsFlushTimeoutMs: 5_000,
  natsPaceMs: 1_000,

  // Upgrade on a node
  /** Before an action of an upgrade that failed for a moment is tried again, within `scheduleToCloseMs`. */
  upgradeRetryAfterMs: [5_000, 20_000, 60_000],
  scheduleToCloseMs: 10 * 60_000,
  compensationBudgetMs: 5 * 60_000,
  artifactBytesMax: 16 * 1024 * 1024 * 1024,
  probeTimeoutMs: 2_000,
  /** After a start: a program that does not listen by then is reported as it is. */
  firstAnswerWaitMs: 5_000,
  probeBodyBytesMax: 64 * 1024,
} as const;
