import { describe, expect, it } from "vitest";
import { healthFacets, standingFacets, versionFacets } from "../../../src/console/pages/fleet/facets.ts";
import { filterNodes, hasWord, toggleWord } from "../../../src/console/pages/fleet/filter.ts";
import {
  contactNow,
  healthLook,
  healthOf,
  standingOf,
  syncOf,
  withProgramOf,
} from "../../../src/console/pages/fleet/node-facts.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { AT, fleetNode, profileOf, program } from "./samples.ts";

const NOW = Date.parse(AT) + 1_000;

describe("a node of the fleet", () => {
  it("is as healthy as its worst program", () => {
    const node = fleetNode(1, {
      programs: [program(), program({ application_health: "critical" }), program({ sync_status: "syncing" })],
    });
    expect([healthOf(node, NOW), syncOf(node, NOW)]).toEqual(["critical", "syncing"]);
  });

  it("ROLL-28: on a rollout's page is as healthy as the rollout's own program, whatever runs beside it", () => {
    const beside = { ...program({ application_health: "critical" }), chain_profile_id: "beside" as never };
    const node = fleetNode(1, { programs: [beside, program()] });
    expect(healthOf(node, NOW)).toBe("critical");
    expect(healthOf(withProgramOf(node, "harbor"), NOW)).toBe("ok");
    expect(healthOf(withProgramOf(node, "unknown"), NOW)).toBe("unknown");
  });

  it("ROLL-28: is found and counted by each of its profiles and versions", () => {
    const node = fleetNode(1, { profiles: [profileOf("1.2"), profileOf("3.0", "beside")] });
    for (const word of ["profile:harbor", "profile:beside", "version:1.2", "version:3.0"])
      expect(filterNodes([node], word, NOW)).toEqual([node]);
    expect(filterNodes([node], "version:1", NOW)).toEqual([]);
    expect(versionFacets([node]).map(({ word, count }) => `${word} ${count}`)).toEqual([
      "version:1.2 1",
      "version:3.0 1",
    ]);
  });

  it("without a report is unknown, not healthy", () => {
    const node = fleetNode(1);
    expect([healthOf(node, NOW), syncOf(node, NOW)]).toEqual(["unknown", "unknown"]);
    expect(healthLook("unknown", undefined, NOW).look.label).toBe("Not reported");
  });

  it("ROLL-30: that is down is unknown with the age of its last report, not healthy and synced", () => {
    const down = fleetNode(1, { state: "down", programs: [program()] });
    const late = fleetNode(2, { programs: [program()] });
    const later = Date.parse(AT) + LIMITS.heartbeatLostMs;
    for (const node of [down, late])
      expect([healthOf(node, later), syncOf(node, later)]).toEqual(["unknown", "unknown"]);
    expect(healthOf(down, NOW)).toBe("unknown");
    expect(healthOf(late, NOW)).toBe("ok");
    const { look, note } = healthLook(healthOf(down, later), down.programs[0], later);
    expect(`${look.label}, ${note}`).toBe("Unknown, 3 min old");
  });

  it("that was revoked or never enrolled is not called active", () => {
    expect(standingOf(fleetNode(1, { revoked_at: AT }))).toBe("revoked");
    expect(standingOf(fleetNode(1, { enrolled: false }))).toBe("awaiting");
    const pending = { since: AT, key_id: "k", host: "h", address: "127.0.0.1", enrollment_key: "rack" };
    expect(standingOf(fleetNode(1, { enrolled: false, pending }))).toBe("pending");
    expect(standingOf(fleetNode(1))).toBe("active");
  });

  it("ROLL-30: is late after three missed heartbeats, and not after two", () => {
    const at = Date.parse(AT);
    expect(contactNow(fleetNode(1), at + 60_000)).toBe("current");
    expect(contactNow(fleetNode(1), at + 91_000)).toBe("late");
    expect(contactNow(fleetNode(1), at + 181_000)).toBe("lost");
  });
});

describe("the filter", () => {
  const nodes = [
    fleetNode(1, { name: "edge-fra-01", labels: { site: "fra" } }),
    fleetNode(2, { name: "edge-ams-02", profiles: [profileOf("1.20")], state: "down" }),
    fleetNode(3, { name: "store-fra-03", profiles: [profileOf(null)] }),
  ];
  const found = (text: string) => filterNodes(nodes, text, NOW).map((node) => node.name);

  it("finds all without a word, and asks for every word with several", () => {
    expect(found("  ")).toHaveLength(3);
    expect(found("edge FRA")).toEqual(["edge-fra-01"]);
    expect(found("edge store")).toEqual([]);
  });

  it("compares a property whole", () => {
    expect(found("version:1.2")).toEqual(["edge-fra-01"]);
    expect(found("state:down")).toEqual(["edge-ams-02"]);
    expect(found("version:none")).toEqual(["store-fra-03"]);
  });

  it("takes a word with an unknown key as text", () => {
    expect(found("constructor:1")).toEqual([]);
    expect(found("site")).toEqual(["edge-fra-01"]);
  });

  it("gets a word from a facet and gives it back", () => {
    const once = toggleWord("edge", "state:down");
    expect(once).toBe("edge state:down");
    expect(hasWord(once, "state:down")).toBe(true);
    expect(toggleWord(once, "state:down")).toBe("edge");
  });
});

describe("the facets", () => {
  it("ROLL-30: of twelve nodes, seven of them down, count five as healthy and seven as unknown", () => {
    const nodes = Array.from({ length: 12 }, (_, index) =>
      fleetNode(index, { programs: [program()], ...(index < 7 ? { state: "down" } : {}) }),
    );
    const counted = healthFacets(nodes, NOW).map(({ look, count }) => `${look.label} ${count}`);
    expect(counted).toEqual(["Healthy 5", "Degraded 0", "Critical 0", "Unknown 7"]);
  });

  it("count every node once and keep the usual states in their places", () => {
    const facets = standingFacets([
      fleetNode(1),
      fleetNode(2, { state: "down" }),
      fleetNode(3, { enrolled: false }),
    ]);
    expect(facets.map(({ word, count }) => `${word} ${count}`)).toEqual([
      "state:active 1",
      "state:degraded 0",
      "state:down 1",
      "state:failed 0",
      "state:awaiting 1",
    ]);
  });

  it("show a health that nobody has, and the most frequent version first", () => {
    const nodes = [
      fleetNode(1),
      fleetNode(2, { profiles: [profileOf("2.0")] }),
      fleetNode(3, { profiles: [profileOf("2.0")] }),
    ];
    expect(healthFacets(nodes, NOW).map((facet) => facet.count)).toEqual([0, 0, 0, 3]);
    expect(versionFacets(nodes).map((facet) => facet.word)).toEqual(["version:2.0", "version:1.2"]);
  });
});
