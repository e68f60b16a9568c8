import { isErrorCode, nextOf } from "../../../core/errors.ts";
import type { Rejection } from "../../../core/protocol/agent-api.ts";
import { Age } from "../../ui/age.tsx";
import { Icon } from "../../ui/icon.tsx";

/** A node that refuses protects itself; the operator must learn why, and what would be accepted. */
export function LastRejection({ rejection }: { readonly rejection: Rejection | null }) {
  return (
    <section
      className="panel rejection-panel"
      aria-labelledby="rejection-heading"
      data-has={rejection !== null}
    >
      <div className="panel-head">
        <h2 id="rejection-heading">Last rejection</h2>
        {rejection === null ? null : <Age at={rejection.at} />}
      </div>
      {rejection === null ? (
        <p className="panel-note muted">This node has refused nothing.</p>
      ) : (
        <div className="rejection">
          <Icon name="alert" />
          <div>
            <p>
              <code>{rejection.code}</code> on {rejection.subject}
            </p>
            <p>{rejection.reason}</p>
            {isErrorCode(rejection.code) ? (
              <p className="remedy">What to do: {nextOf(rejection.code, "node")}</p>
            ) : null}
          </div>
        </div>
      )}
    </section>
  );
}
