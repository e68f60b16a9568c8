/**
 * The agent's unit for systemd, of packages and of `agent install` alike.
 *
 * 1. Stopping the unit stops no program: shims run in scopes of their own (shim-placement.ts), and KillMode=process
 *    leaves even those alone that could not be given one.
 * 2. A path that the unit's syntax would read as something else is refused.
 */
import { FairleadError } from "../../core/errors.ts";

export const AGENT_UNIT = "fairlead-agent.service";
export const AGENT_EXECUTABLE = "/usr/bin/fairlead-agent";
export const AGENT_CONFIG = "/etc/fairlead/agent.yaml";

const PLAIN_PATH = /^\/[A-Za-z0-9._+@/-]*$/;

export function agentUnit(executable: string, config: string): string {
  return `[Unit]
Description=Fairlead agent
Wants=network-online.target
After=network-online.target
ConditionPathExists=${plain(config)}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${plain(executable)} --config ${plain(config)}
Restart=always
RestartSec=5
KillMode=process
SuccessExitStatus=143
UMask=0077

[Install]
WantedBy=multi-user.target
`;
}

/** (2) */
function plain(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  throw new FairleadError("INVALID_INPUT", `not an absolute path of plain characters for a unit: ${path}`);
}
