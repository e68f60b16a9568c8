/** A list that is read page by page: what it is called, its table, and what stands there while it is empty. */
import type { FairleadError } from "../../core/errors.ts";
import type { ReactNode } from "react";
import { Button } from "react-aria-components/Button";
import { ErrorPanel } from "./error-panel.tsx";
import { Skeleton } from "./skeleton.tsx";
import { TableHead } from "./table-head.tsx";

interface Props {
  readonly headingId: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly className: string;
  readonly error: FairleadError | Error | null;
  readonly onRetry: () => void;
  /** Undefined while it is read for the first time. */
  readonly rows: readonly ReactNode[] | undefined;
  readonly empty: ReactNode;
  readonly more?: { readonly isBusy: boolean; readonly onPress: () => void } | null;
}

export function ListPanel(props: Props) {
  const { headingId, name, columns, className, error, onRetry, rows, empty, more } = props;
  return (
    <>
      {error !== null && rows === undefined ? <ErrorPanel error={error} onRetry={onRetry} /> : null}
      <section className="panel" aria-labelledby={headingId}>
        {rows === undefined && error === null ? <Skeleton lines={6} name={name} /> : null}
        {rows?.length === 0 ? empty : null}
        {rows === undefined || rows.length === 0 ? null : (
          <table className={`table cards-when-narrow ${className}`} aria-labelledby={headingId}>
            <TableHead columns={columns} />
            <tbody>{rows}</tbody>
          </table>
        )}
        {more == null ? null : (
          <Button className="button more" isDisabled={more.isBusy} onPress={more.onPress}>
            Show older {name}
          </Button>
        )}
      </section>
    </>
  );
}
