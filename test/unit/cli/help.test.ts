import { describe, expect, test } from "vitest";
import * as choices from "../../../src/cli/specs/choices.ts";
import { COMMANDS } from "../../../src/cli/specs/index.ts";
import { DEGRADED_ACTIONS } from "../../../src/core/degraded/actions.ts";
import { GROUP_STATUSES } from "../../../src/core/group/states.ts";
import { INCIDENT_CATEGORIES, INCIDENT_STATUSES } from "../../../src/core/incident/states.ts";
import { NOTIFICATIONS } from "../../../src/core/protocol/incident-api.ts";
import { MODEL_KINDS } from "../../../src/core/model/resources.ts";
import { LIFTABLE_KINDS } from "../../../src/core/model/revocation.ts";
import { Runtime } from "../../../src/core/manifest/schema.ts";
import * as states from "../../../src/core/rollout/states.ts";
import { REVOCATION_KINDS } from "../../../src/core/snapshot/revocation.ts";
import { KEY_AUTHORITIES } from "../../../src/core/snapshot/signing-keys.ts";
import { Scope } from "../../../src/core/protocol/api-key-api.ts";
import * as scopes from "../../../src/core/snapshot/scopes.ts";
import { fairlead, homeFor } from "./support.ts";

const complete = async (words: readonly string[], env = {}): Promise<string[]> =>
  (await fairlead(["complete", "--", ...words], { env })).out.split("\n").map((line) => line.split("\t")[0]!);

describe("help (USE-2)", () => {
  test.each(COMMANDS.map((spec) => spec.path))(
    "`%s --help` has an example that names it, and --json",
    async (path) => {
      const ran = await fairlead([...path.split(" "), "--help"]);
      expect(ran).toMatchObject({ code: 0, err: "" });
      expect(ran.out).toMatch(/^Examples?:$/m);
      expect(ran.out).toContain(`fairlead ${path}`);
      expect(ran.out).toContain("--json");
    },
  );

  test("the whole is shown by --help and by no word at all, with server and agent", async () => {
    const help = await fairlead(["--help"]);
    expect(help.out).toMatch(/^ {2}server +run the control plane/m);
    expect(help.out).toMatch(/^ {2}agent +run a node's agent/m);
    expect(await fairlead([])).toMatchObject({ code: 0, out: help.out });
  });

  test("`help`, `help SUBJECT` and `help COMMAND` show what --help shows, in either order", async () => {
    const same = async (words: string[], flags: string[]) =>
      expect(await fairlead(words)).toMatchObject({ code: 0, err: "", out: (await fairlead(flags)).out });
    await same(["help"], ["--help"]);
    await same(["help", "rollout"], ["rollout", "--help"]);
    await same(["rollout", "help"], ["rollout", "--help"]);
    for (const { path } of COMMANDS) await same(["help", ...path.split(" ")], [...path.split(" "), "--help"]);
    await same(["rollout", "help", "create"], ["rollout", "create", "--help"]);
  });

  test("`help` about a word that is no command is refused, and a name `help` stays a name", async () => {
    expect(await fairlead(["help", "rolout"])).toMatchObject({
      code: 2,
      out: "",
      err: "error USAGE: there is no command `rolout`\nwhat to do: Look at the command's --help.\n",
    });
    expect((await fairlead(["rollout", "help", "nothing"])).code).toBe(2);
    expect((await fairlead(["context", "show", "help"])).err).not.toContain("Usage");
  });

  test("every command's file loads and has what it promises", async () => {
    for (const spec of COMMANDS) expect((await spec.load()).run).toBeTypeOf("function");
  });

  test("words that help offers are the ones that core knows", () => {
    expect(choices.NODE_ROLES).toEqual(scopes.NODE_ROLES);
    expect(choices.ROLLOUT_STATUSES).toEqual(states.ROLLOUT_STATUSES);
    expect(choices.SCOPES).toEqual(scopes.ScopeType.options);
    expect(choices.MODEL_KINDS).toEqual(MODEL_KINDS);
    expect(choices.DEGRADED_ACTIONS).toEqual(DEGRADED_ACTIONS);
    expect(choices.LIFTABLE_KINDS).toEqual(LIFTABLE_KINDS);
    expect(choices.REVOCATION_KINDS).toEqual(REVOCATION_KINDS);
    expect(choices.KEY_AUTHORITIES).toEqual(KEY_AUTHORITIES);
    expect(choices.GROUP_STATUSES).toEqual(GROUP_STATUSES);
    expect(choices.INCIDENT_STATUSES).toEqual(INCIDENT_STATUSES);
    expect(choices.INCIDENT_CATEGORIES).toEqual(INCIDENT_CATEGORIES);
    expect(choices.NOTIFICATIONS).toEqual(NOTIFICATIONS);
    expect(choices.STRATEGIES).toEqual(states.Strategy.options);
    expect(choices.RUNTIMES).toEqual(Runtime.options);
    expect(choices.SCOPES_GRANTED).toEqual(Scope.options);
  });

  test("version is shown by command and by flag", async () => {
    const { version } = (await fairlead(["version", "--json"])).json() as { version: string };
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect((await fairlead(["--version"])).out).toContain(version);
  });
});

describe("completion (USE-2)", () => {
  test.each(["bash", "zsh", "fish"])("a script for %s calls back for suggestions", async (shell) => {
    const ran = await fairlead(["completion", shell]);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("fairlead complete --");
    expect((await fairlead(["completion", shell, "--json"])).json()).toMatchObject({ shell });
  });

  test("another shell is refused", async () => {
    expect((await fairlead(["completion", "tcsh"])).code).toBe(2);
  });

  test("offers subjects, verbs, options, values and the contexts of this machine", async () => {
    expect(await complete(["ro"])).toContain("rollout");
    expect(await complete(["rollout", "w"])).toEqual(["watch", "wait", ":4", ""]);
    expect(await complete(["rollout", "wait", "--t"])).toContain("--timeout");
    expect(await complete(["rollout", "wait", "--for", ""])).toEqual(["done", "paused", ":4", ""]);
    const env = await homeFor("http://127.0.0.1:1");
    expect(await complete(["context", "use", ""], env)).toContain("default");
    expect(await complete(["context", "use", ""], {})).not.toContain("default");
  });
});
