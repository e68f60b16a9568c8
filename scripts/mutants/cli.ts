import { ofLayer } from "./mutant.ts";

export const CLI = ofLayer("cli", [
  {
    id: "cli-wait-done",
    file: "src/cli/commands/rollout-wait.ts",
    find: '(options.for === "paused" && status === "paused")',
    replace: 'status === "paused"',
    change: "wait --for done ends at a pause",
    project: "unit",
    test: "test/unit/cli/follow.test.ts",
  },
  {
    id: "cli-package-extra",
    file: "src/cli/commands/package-verify.ts",
    find: "names.filter((name) => !listed(name))",
    replace: "names.filter((name) => name === '' && !listed(name))",
    change: "a file that was added to a folder of packages passes",
    project: "unit",
    test: "test/unit/cli/package-verify.test.ts",
  },
  {
    id: "cli-package-unsigned",
    file: "src/cli/commands/package-verify.ts",
    find: "if (signedBy !== key.key_id) {",
    replace: "if (key.key_id.length === 0) {",
    change: "the key that a list names is not compared with --key",
    project: "unit",
    test: "test/unit/cli/package-verify.test.ts",
  },
  {
    id: "cli-pin",
    file: "src/cli/keys/believe.ts",
    find: "if (pin !== pins.root_pin)",
    replace: 'if (pin === "")',
    change: "a bundle's root is not compared with the pin",
    project: "unit",
    test: "test/unit/cli/believe.test.ts",
  },
  {
    id: "cli-json-after-dashes",
    file: "src/cli/run.ts",
    find: "(end === -1 ? argv : argv.slice(0, end))",
    replace: "(end === -2 ? [] : argv)",
    change: "--json after -- counts as an option",
    project: "unit",
    test: "test/unit/cli/output.test.ts",
  },
]);
