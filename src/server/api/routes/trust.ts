/** First run and trust: how a new server gets its trust bundle, and what it holds. */
import {
  BootstrapRequest,
  BootstrapResponse,
  InitializeRequest,
  InitializeResponse,
  TrustView,
} from "../../../core/protocol/operator-api.ts";
import { BundleTaken, BundleUpload, BundleView } from "../../../core/protocol/keys-api.ts";
import { checkFirstRun } from "../../auth/first-run-secret.ts";
import { initialize } from "../../auth/initialize.ts";
import type { SignInGuard } from "../../auth/sign-in-guard.ts";
import { principalOf } from "../access.ts";
import type { OperatorsDeps } from "../deps.ts";
import { readTrust } from "../trust-view.ts";
import type { ZodApp } from "../zod-app.ts";

const tags = ["Trust"];

export function registerTrustRoutes(app: ZodApp, deps: OperatorsDeps, guard: SignInGuard): void {
  app.post(
    "/bootstrap",
    {
      config: { access: "public" },
      schema: {
        tags,
        summary: "What `fairlead init` needs to know of a new server",
        body: BootstrapRequest,
        response: { 200: BootstrapResponse },
      },
    },
    async (request) => {
      const { first_run_secret } = request.body;
      await guard.attempt(request.ip, async () =>
        checkFirstRun(deps.db, deps.firstRunSecretPath, first_run_secret),
      );
      const { key_id, public_key } = (await deps.ring.firstKey()).record;
      return {
        cluster_id: deps.clusterId,
        online_key: { key_id, algorithm: "Ed25519" as const, public_key },
        ca_pin: deps.ca.pin,
        enroll_url: deps.enrollUrl(),
      };
    },
  );

  app.post(
    "/bootstrap/trust-bundle",
    {
      config: { access: "public" },
      schema: {
        tags,
        summary: "Hand in the first trust bundle; the answer holds the first administrator's key",
        body: InitializeRequest,
        response: { 200: InitializeResponse },
      },
    },
    async (request) => {
      const { first_run_secret, trust_bundle } = request.body;
      const frame = Buffer.from(trust_bundle, "base64");
      const api_key = await guard.attempt(request.ip, async () => initialize(deps, first_run_secret, frame));
      return { api_key };
    },
  );

  app.get(
    "/trust",
    { schema: { tags, summary: "The trust bundle in force", response: { 200: TrustView } } },
    async () => readTrust(deps),
  );

  app.get(
    "/trust/bundles/newest",
    {
      schema: {
        tags,
        summary: "The newest trust bundle as it was signed, to verify and to derive the next one from",
        response: { 200: BundleView },
      },
    },
    async () => deps.keys.newestBundle(),
  );

  app.post(
    "/trust/bundles",
    {
      schema: {
        tags,
        summary: "Hand in the next trust bundle, signed by the root keys",
        body: BundleUpload,
        response: { 201: BundleTaken },
      },
    },
    async (request, reply) => {
      const { trust_bundle, abandon, reason = null } = request.body;
      const frame = Buffer.from(trust_bundle, "base64");
      return reply.code(201).send(await deps.keys.publish(frame, abandon, reason, principalOf(request).user));
    },
  );
}
