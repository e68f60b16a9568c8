/**
 * Messages to a control plane of before their optional fields: it reads strictly and refuses the whole.
 *
 * 1. After such a refusal the message is repeated once without the fields; accepted so, the next ones go without too.
 * 2. The whole message is tried again from time to time: the control plane may have been upgraded.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Heartbeat, PollRequest } from "../../core/protocol/agent-api.ts";

/** About ten minutes of heartbeats or of polls. */
const MESSAGES_UNTIL_WHOLE = 20;

function createFallback<Message>(withoutNewerFields: (message: Message) => Message) {
  let without = 0;
  return async <Answer>(message: Message, send: (message: Message) => Promise<Answer>): Promise<Answer> => {
    if (without > 0) {
      without -= 1; // (2)
      return send(withoutNewerFields(message));
    }
    try {
      return await send(message);
    } catch (error) {
      if (!(error instanceof FairleadError) || error.code !== "INVALID_INPUT") throw error;
      const answer = await send(withoutNewerFields(message));
      without = MESSAGES_UNTIL_WHOLE; // (1)
      return answer;
    }
  };
}

export const createHeartbeatFallback = () =>
  createFallback<Heartbeat>(({ instance: _instance, programs, ...rest }) => ({
    ...rest,
    programs: programs.map(({ started_alone: _startedAlone, ...program }) => program),
  }));

export const createPollFallback = () =>
  createFallback<PollRequest>(({ capabilities: _capabilities, ...poll }) => poll);
