/** Which version of the engine's API both sides know: the newest of both, within what we were written for. */
import { FairleadError } from "../../../../core/errors.ts";

const OLDEST = [1, 40] as const;
const NEWEST = [1, 47] as const;

type ApiVersion = readonly [number, number];

export function agreedVersion({
  ApiVersion,
  MinAPIVersion,
}: {
  ApiVersion: string;
  MinAPIVersion: string;
}): string {
  const theirs = parse(ApiVersion);
  const agreed = isOlder(theirs, NEWEST) ? theirs : NEWEST;
  if (isOlder(agreed, OLDEST) || isOlder(agreed, parse(MinAPIVersion))) {
    const range = `${MinAPIVersion.slice(0, 20)} to ${ApiVersion.slice(0, 20)}`;
    throw new FairleadError(
      "ACTION_FAILED",
      `the engine speaks API ${range}; needed is ${text(OLDEST)} to ${text(NEWEST)}`,
    );
  }
  return text(agreed);
}

function parse(version: string): ApiVersion {
  const match = /^(\d{1,3})\.(\d{1,3})$/.exec(version);
  if (match === null) throw new FairleadError("UNREACHABLE", "the engine names no version of its API");
  return [Number(match[1]), Number(match[2])];
}

const isOlder = ([major, minor]: ApiVersion, than: ApiVersion): boolean =>
  major < than[0] || (major === than[0] && minor < than[1]);

const text = ([major, minor]: ApiVersion): string => `${major}.${minor}`;
