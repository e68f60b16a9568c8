/** All that the operators' API stands on. */
import type { ClusterId } from "../../core/ids.ts";
import type { Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { OidcVerifier } from "../auth/oidc.ts";
import type { TokenService } from "../auth/tokens.ts";
import type { Database } from "../db/database.ts";
import type { KeyRing } from "../identity/key-ring.ts";
import type { SiteCa } from "../identity/site-ca.ts";
import type { KeyService } from "../keys/service.ts";
import type { ManifestReader } from "../manifests/reader.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { WebhookDeps } from "../notify/webhooks.ts";
import type { TlsFiles } from "./listen.ts";
import type {
  ConfirmTime,
  EventSource,
  GroupService,
  Readiness,
  RevokeNode,
  RolloutService,
} from "./ports.ts";

export interface OperatorsDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly clusterId: ClusterId;
  readonly ca: SiteCa;
  readonly ring: KeyRing;
  readonly keys: KeyService;
  readonly tokens: TokenService;
  readonly oidc: OidcVerifier | null;
  readonly firstRunSecretPath: string;
  /** Known once the enrollment listener listens. */
  readonly enrollUrl: () => string;
  readonly manifests: ManifestReader;
  readonly rollouts: RolloutService;
  readonly groups: GroupService;
  readonly webhooks: WebhookDeps;
  readonly events: EventSource;
  readonly revokeNode: RevokeNode;
  readonly confirmTime: ConfirmTime;
  readonly ready: () => Promise<Readiness>;
  /** Where the listener will listen: plain HTTP is refused beyond loopback. */
  readonly listenHost: string;
  readonly tls?: TlsFiles;
  /** The address that operators use when it is not the listener's own, as behind a proxy. */
  readonly publicUrl?: string;
  /** The built console; without it the server has no pages but /docs. */
  readonly consoleDir?: string;
  readonly version: string;
  /** Per address, for sign-in and first run. */
  readonly failedSignInsPerMinuteMax?: number;
}
