// The repository says nothing of the machine or the mirror it was written on.

import { expect, test } from "vitest";
import { occurrences, trackedTextFiles } from "./repository.ts";
import type { SourceFile } from "./repository.ts";

const NPM_HOST =
  /\bregistry\.(?:npmjs|yarnpkg|npmmirror)\.\w+|\bnpm\.pkg\.github\.com|"resolved": *"https?:[^"]*"/g;
const HOME_PATH = /(?<![\w.~$}-])\/(?:home|Users)\/[\w.-]+\/|(?<![\w.~$}/-])\/(?:root|work)\/[\w.-]+/g;

const traces = (files: readonly SourceFile[]): string[] =>
  files.flatMap((file) => [...occurrences(file, NPM_HOST), ...occurrences(file, HOME_PATH)]);

test("no tracked file names a package registry's host or somebody's home folder", () => {
  const files = trackedTextFiles();
  expect(files.length).toBeGreaterThan(0);
  expect(traces(files)).toEqual([]);
});

test("a registry's host and a home folder are found, a route that looks alike is not", () => {
  const host = ["registry", "npmjs", "org"].join(".");
  const path = (...parts: string[]) => `/${parts.join("/")}`;
  const text = [
    `"resolved": "${host}"`,
    `cd ${path("home", "ann", "clone")}`,
    `GET https://x${path("root", "keys")}`,
  ];
  expect(traces([{ path: "a.md", text: text.join("\n") }])).toEqual([
    `a.md:1: ${host}`,
    `a.md:2: ${path("home", "ann")}/`,
  ]);
});
