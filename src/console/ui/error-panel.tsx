/** Every error says what was wrong and what to do; its code can be looked up and its request found in the log. */
import { FairleadError } from "../../core/errors.ts";
import { Icon } from "./icon.tsx";
import "./error-panel.css";

interface Props {
  readonly error: unknown;
  readonly title?: string;
  readonly onRetry?: (() => void) | undefined;
}

export function ErrorPanel({ error, title = "This could not be read", onRetry }: Props) {
  const { code, message, next, requestId } = readError(error);
  return (
    <div className="error-panel" role="alert">
      <Icon name="alert" />
      <div>
        <p className="error-title">
          {title} <code>{code}</code>
        </p>
        <p>{message}.</p>
        <p>{next}</p>
        {requestId === null ? null : (
          <p className="muted">
            Request <code>{requestId}</code>
          </p>
        )}
        {onRetry === undefined ? null : (
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

function readError(error: unknown) {
  if (!(error instanceof FairleadError)) {
    return {
      code: "INTERNAL",
      message: "the page met an error of its own",
      next: "Reload the page.",
      requestId: null,
    };
  }
  const requestId = error.detail?.["request_id"];
  return {
    code: error.code,
    message: error.message,
    next: error.body("console").next,
    requestId: typeof requestId === "string" ? requestId : null,
  };
}
