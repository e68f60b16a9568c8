/** The file that Stryker changes and the tests that may notice: told to `vitest.config.ts`, which Stryker loads elsewhere. */
const VARIABLE = "FAIRLEAD_MUTANTS_SUBJECT";

interface Subject {
  readonly file: string;
  /** Nearest first. */
  readonly tests: readonly string[];
}

export function tellSubject(subject: Subject): void {
  process.env[VARIABLE] = JSON.stringify(subject);
}

export const subjectInEnvironment = (): Subject =>
  JSON.parse(process.env[VARIABLE] ?? '{ "file": "", "tests": [] }') as Subject;
