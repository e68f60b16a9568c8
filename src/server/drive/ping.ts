/** Whether somebody speaks HTTP/2 at a handlers' address: a port that is open in front of a hung server is not enough. */
import { connect } from "node:http2";

const PING_TIMEOUT_MS = 2_000;

export function answersPing(uri: string): Promise<boolean> {
  return new Promise((done) => {
    const session = connect(uri);
    const end = (answered: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      done(answered);
    };
    const timer = setTimeout(() => end(false), PING_TIMEOUT_MS);
    session.once("error", () => end(false));
    session.once("connect", () => session.ping((error) => end(error === null)));
    session.once("close", () => end(false));
  });
}
