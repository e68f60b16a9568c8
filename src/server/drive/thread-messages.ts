/** Messages between the drive worker and the thread that started it: plain data, whole. */
import type { ClusterId } from "../../core/ids.ts";
import type { LogLevel } from "../../host/log.ts";
import type { DatabaseOptions } from "../db/database.ts";
import type { StepCounts } from "../metrics/rollout-metrics.ts";
import type { Parcels } from "../rollout/parcel.ts";
import type { EngineAddress } from "./engine.ts";
import type { HandlerOptions } from "./endpoint.ts";

export interface DriveSettings {
  readonly database: DatabaseOptions;
  readonly address: EngineAddress;
  readonly handlers: Omit<HandlerOptions, "identityKey">;
  readonly clusterId: ClusterId;
  readonly keysDir: string;
  readonly logLevel: LogLevel;
  /** Of this replica's clock gate. */
  readonly clock: SharedArrayBuffer;
  /** This replica, in what it tells the others. */
  readonly from: string;
}

export interface ThreadData {
  /** Of this very version of Node.js, in the folder for all of them. */
  readonly compileCache: string | null;
}

export type ToThread =
  | { readonly kind: "start"; readonly settings: DriveSettings }
  | { readonly kind: "answers"; readonly id: number }
  | { readonly kind: "stop" };

export type FromThread =
  | { readonly kind: "started" }
  | { readonly kind: "refused"; readonly code: string | null; readonly message: string }
  | { readonly kind: "answer"; readonly id: number; readonly answers: boolean }
  | { readonly kind: "counts"; readonly counts: StepCounts }
  | { readonly kind: "parcels"; readonly parcels: Parcels };
