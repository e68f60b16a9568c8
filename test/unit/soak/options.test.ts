/** `npm run soak -- …`, as it is typed. */
import { expect, test } from "vitest";
import { HELP, readCommandLine } from "../../soak/options.ts";

test("a soak of 30 rounds on 10 hosts from a random seed needs no option", () => {
  const seeds = [1, 2, 3].map(() => {
    const asked = readCommandLine([]);
    expect(asked).toMatchObject({ rounds: 30, hosts: 10, json: false });
    return (asked as { seed: number }).seed;
  });
  expect(new Set(seeds).size).toBeGreaterThan(1);
});

test("a soak takes its seed, rounds and hosts from its options, and tells its help", () => {
  const asked = readCommandLine(["--seed", "7", "--rounds", "5", "--hosts", "4", "--json"]);
  expect(asked).toEqual({ seed: 7, rounds: 5, hosts: 4, json: true });
  expect(readCommandLine(["--help"])).toBe("help");
  expect(HELP).toMatch(/Example:\n {2}npm run soak -- --seed 7/);
});

test.each([
  ["--seed", "x"],
  ["--seed", "-1"],
  ["--rounds", "0"],
  ["--rounds", "1.5"],
  ["--hosts", "2"],
  ["--hosts", "25"],
  ["--days", "3"],
])("a soak refuses %s %s, and names the option", (flag, value) => {
  const asked = readCommandLine([`${flag}=${value}`]);
  expect(asked).toHaveProperty("problem", expect.stringContaining(flag));
});
