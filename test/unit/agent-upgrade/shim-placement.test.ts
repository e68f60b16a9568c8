import { expect, test } from "vitest";
import { serviceOf } from "../../../src/agent/shim-placement.ts";

test.each([
  ["v2", "0::/system.slice/fairlead-agent.service\n", { unit: "fairlead-agent.service", isUser: false }],
  [
    "v1 hybrid",
    "9:name=systemd:/system.slice/fairlead-agent.service\n4:memory:/\n0::/system.slice/fairlead-agent.service\n",
    { unit: "fairlead-agent.service", isUser: false },
  ],
  ["v1", "9:name=systemd:/system.slice/a.service\n4:memory:/\n", { unit: "a.service", isUser: false }],
  [
    "a user's manager",
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/agent.service\n",
    { unit: "agent.service", isUser: true },
  ],
  [
    "a subgroup of a service (DelegateSubgroup=)",
    "0::/system.slice/fairlead-agent.service/supervisor\n",
    { unit: "fairlead-agent.service", isUser: false },
  ],
  [
    "a subgroup of a user's service",
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/agent.service/sub/group\n",
    { unit: "agent.service", isUser: true },
  ],
  [
    "a scope of a user's manager",
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/shell.scope\n",
    null,
  ],
  ["a login", "0::/user.slice/user-1000.slice/session-3.scope\n", null],
  ["a user's manager itself", "0::/user.slice/user-1000.slice/user@1000.service\n", null],
  ["a container", "0::/\n", null],
  ["another controller's group", "4:memory:/system.slice/agent.service\n0::/\n", null],
  ["no text", "", null],
  ["other text", "not a cgroup\n1:2\n", null],
])("the service of a process is read from its control groups: %s", (_, cgroups, service) => {
  expect(serviceOf(cgroups)).toEqual(service);
});
