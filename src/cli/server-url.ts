/** The address of a server: an origin, and encrypted unless it is this machine. An API key goes there. */
import { z } from "zod";

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

export const ServerUrl = z
  .string()
  .max(500)
  .transform((text, context): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const wrong = url === undefined ? "not an address such as https://host:7400" : whyNot(url);
    if (url !== undefined && wrong === undefined) return url.origin;
    context.addIssue({ code: "custom", message: wrong ?? "" });
    return z.NEVER;
  });

function whyNot(url: URL): string | undefined {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "not an http or https address";
  if (url.protocol === "http:" && !LOOPBACK.test(url.hostname))
    return "http is for this machine only: use https";
  if (url.username !== "" || url.password !== "") return "no user or password belongs here";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return "give the address without a path";
  return undefined;
}
