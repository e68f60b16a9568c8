/** A file or a process that is gone, told apart from one that could not be looked at. */
import { errnoOf } from "../../../../host/file-errors.ts";

const GONE = ["ENOENT", "ESRCH"];

/** Null when it is gone; anything else that fails is thrown. */
export async function ifThere<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (GONE.includes(errnoOf(error) ?? "")) return null;
    throw error;
  }
}
