/**
 * Whether somebody is there. The control plane is there while it answered within `LIMITS.contactLostMs`; who answers
 * that it has lost its own authority is not the control plane, but tells that this part of the fleet is cut off.
 */
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Clock } from "../../host/clock.ts";

export type Contact = ReturnType<typeof createContact>;

export function createContact(clock: Clock) {
  let answeredAt: number | null = null;
  let partitioned = false;
  let settle: () => void = () => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));

  return {
    /** The control plane answered, whatever it said. */
    answered(): void {
      answeredAt = clock.monotonic();
      partitioned = false;
    },
    /** It did not, or somebody else did. */
    failed(error: unknown): void {
      partitioned = error instanceof FairleadError && error.code === "NOT_READY";
    },
    /** The first poll after the start is over, for better or worse: until then nobody knows. */
    settle: (): void => settle(),
    settled: (): Promise<void> => settled,
    isThere: (): boolean => answeredAt !== null && clock.monotonic() - answeredAt <= LIMITS.contactLostMs,
    isPartitioned: (): boolean => partitioned,
  };
}
