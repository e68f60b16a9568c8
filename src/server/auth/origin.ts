/** A browser sends its cookie along with a foreign page's request; the page's origin tells whose request it was. */
import { FairleadError } from "../../core/errors.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** For requests that carry the console's cookie. Without an Origin a write is refused: browsers always send one. */
export function checkOrigin(method: string, origin: string | undefined, own: string): void {
  if (SAFE_METHODS.has(method) || origin === own) return;
  throw new FairleadError("ORIGIN_REFUSED", "the request comes from another page than the console's");
}
