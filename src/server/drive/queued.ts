/** What the sweep has sent and no step has begun with yet. */
const RESEND_TURNS = 5;

interface Sent {
  readonly id: string;
  readonly generation: number;
}

/** A long step keeps its thing overdue: what was sent for it waits its turn, and one in the queue is enough. */
export function createQueued(): (overdue: Sent, turn: number) => boolean {
  const sent = new Map<string, { readonly generation: number; readonly turn: number }>();
  return ({ id, generation }, turn) => {
    const last = sent.get(id);
    if (last?.generation === generation && turn - last.turn < RESEND_TURNS) return true;
    sent.set(id, { generation, turn });
    return false;
  };
}
