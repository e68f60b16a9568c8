/**
 * Every failure leaves as `ErrorResponse` with a code of ours and the request's id.
 *
 * 1. What is no error of ours is logged whole and shown as INTERNAL: no stack, no SQL, no path reaches a caller.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RawServerBase } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError, httpStatusOf } from "../../core/errors.ts";
import type { ErrorResponse } from "../../core/protocol/operator-api.ts";
import type { Logger } from "../../host/log.ts";
import { isDatabaseGone } from "../db/trouble.ts";
import { invalidInput } from "./invalid-input.ts";

const FRAMEWORK: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ["PAYLOAD_TOO_LARGE", "the body is too large"],
  FST_ERR_CTP_EMPTY_JSON_BODY: ["INVALID_INPUT", "the body is empty"],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ["INVALID_INPUT", "the body must be application/json"],
  FST_ERR_CTP_INVALID_JSON_BODY: ["INVALID_INPUT", "the body is not JSON"],
};

/** The parts of a request and a reply that are alike on every kind of server. */
type AnyRequest = Pick<FastifyRequest, "id" | "method"> & {
  readonly routeOptions: { readonly url?: string | undefined };
};

export function handleErrors<Server extends RawServerBase>(app: FastifyInstance<Server>, log: Logger): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const known = asKnown(error);
    if (known.code === "INTERNAL") log.error("request failed", { error, ...about(request) }); // (1)
    return sendError(reply as unknown as FastifyReply, request, known);
  });
}

/** For listeners without pages. */
export function answerNotFound<Server extends RawServerBase>(app: FastifyInstance<Server>): void {
  app.setNotFoundHandler((request, reply) =>
    sendError(reply as unknown as FastifyReply, request, notFound()),
  );
}

export const notFound = (): FairleadError =>
  new FairleadError("NOT_FOUND", "there is nothing at this address");

export function sendError(
  reply: FastifyReply,
  request: Pick<FastifyRequest, "id">,
  error: FairleadError,
): FastifyReply {
  const body: ErrorResponse = { error: { ...error.body(), request_id: request.id } };
  const wait = error.detail?.["retry_after_seconds"];
  if (typeof wait === "number") void reply.header("retry-after", String(wait));
  // As text: an error has one shape on every route, whatever schema the route answers with.
  return reply
    .code(httpStatusOf(error.code))
    .header("cache-control", "no-store")
    .type("application/json; charset=utf-8")
    .serializer((payload: unknown) => JSON.stringify(payload))
    .send(body);
}

function asKnown(error: unknown): FairleadError {
  if (error instanceof FairleadError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const issues = error.validation.map(({ params, keyword, message, instancePath }) => ({
      ...params,
      code: keyword,
      message,
      path: instancePath.split("/").filter((part) => part !== ""),
    }));
    return invalidInput(error.validationContext ?? "request", issues as never);
  }
  const { code = "", statusCode = 500 } = error instanceof Error ? (error as FastifyError) : {};
  const framework = FRAMEWORK[code];
  if (framework !== undefined) return new FairleadError(framework[0], framework[1]);
  if (isDatabaseGone(error))
    return new FairleadError("NOT_READY", "the database is not reachable", undefined, error);
  if (statusCode >= 400 && statusCode < 500)
    return new FairleadError("INVALID_INPUT", "the request cannot be read");
  return new FairleadError("INTERNAL", "something went wrong on the server", undefined, error);
}

const about = (request: AnyRequest) => ({
  request_id: request.id,
  method: request.method,
  route: request.routeOptions.url ?? null,
});
