/** The eight, in the order of UPGRADE_ACTIONS, and the order in which they are taken back. */
import type { ActionName } from "../../../core/upgrade/phases.ts";
import { acquireArtifact } from "./acquire-artifact.ts";
import type { UpgradeAction } from "./action.ts";
import { backupState } from "./backup-state.ts";
import { installArtifact } from "./install-artifact.ts";
import { reloadDaemon } from "./reload-daemon.ts";
import { startNode } from "./start-node.ts";
import { stopNode } from "./stop-node.ts";
import { verifyArtifact } from "./verify-artifact.ts";
import { writeConfigs } from "./write-configs.ts";

export const ACTIONS: readonly UpgradeAction[] = [
  backupState,
  acquireArtifact,
  verifyArtifact,
  stopNode,
  installArtifact,
  writeConfigs,
  reloadDaemon,
  startNode,
];

/**
 * The reverse of the above but for one: reload comes after everything it would read is back, and before the start.
 * So: stop what was started, restore configs, restore the artifact, reload, start if it ran, remove the download.
 */
const TAKEN_BACK: readonly ActionName[] = [
  "start_node",
  "write_configs",
  "install_artifact",
  "reload_daemon",
  "stop_node",
  "verify_artifact",
  "acquire_artifact",
  "backup_state",
];

export const COMPENSATIONS: readonly UpgradeAction[] = TAKEN_BACK.map((name) =>
  ACTIONS.find((action) => action.name === name)!,
);
