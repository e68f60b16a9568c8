/** A worker that beats for many nodes: as fast as they are answered, or at a fixed rate whatever the answers do. */
import { sleep } from "../../src/host/clock.ts";
import type { EnrolledNode } from "../support/enroll.ts";
import { BEFORE, heartbeatOf } from "../support/heartbeat.ts";
import { mapAtOnce, percentile } from "../support/statistics.ts";
import { openWire, postRequest, type Wire } from "../support/wire.ts";
import { serveJobs } from "../support/worker.ts";

const HANDSHAKES_AT_ONCE = 8;
const TICK_MS = 2;
const applied = { trust_bundle: { epoch: 1, version: 1 }, service_assignment: { epoch: 1, version: 3 } };

/** Made anew this often: its time differs from beat to beat, as a real one's does. */
const BEAT_AGE_MS_MAX = 5;

let beat: { readonly at: number; readonly request: Buffer } = { at: -Infinity, request: Buffer.alloc(0) };
function freshBeat(): Buffer {
  const at = performance.now();
  if (at - beat.at > BEAT_AGE_MS_MAX)
    beat = { at, request: postRequest("/agent/v1/heartbeat", heartbeatOf(BEFORE, applied)) };
  return beat.request;
}

const wires = new Map<string, readonly Wire[]>();

async function send(wire: Wire): Promise<void> {
  const { status, body } = await wire.send(freshBeat());
  if (status !== 204) throw new Error(`heartbeat: HTTP ${status} ${body.toString("utf8").slice(0, 300)}`);
}

export const jobs = {
  /** One connection for each node, and a first heartbeat on each. */
  async connect({ url, nodes }: { url: string; nodes: readonly EnrolledNode[] }): Promise<void> {
    const opened = await mapAtOnce(nodes, HANDSHAKES_AT_ONCE, (node) => openWire(url, node));
    await Promise.all(opened.map(send));
    wires.set(url, opened);
  },

  /** Each node beats again as soon as it was answered. Counts answers within the time. */
  async flood({
    url,
    seconds,
  }: {
    url: string;
    seconds: number;
  }): Promise<{ perSecond: number; sent: number }> {
    const until = performance.now() + seconds * 1000;
    let answered = 0;
    let sent = 0;
    const node = async (wire: Wire): Promise<void> => {
      while (performance.now() < until) {
        sent += 1;
        await send(wire);
        if (performance.now() < until) answered += 1;
      }
    };
    await Promise.all(wires.get(url)!.map(node));
    return { perSecond: answered / seconds, sent };
  },

  /** Beats fall due on a schedule; one that has to wait for a connection has been waiting since it was due. */
  async pace({ url, rate, seconds }: { url: string; rate: number; seconds: number }) {
    const idle = [...wires.get(url)!];
    const due: number[] = [];
    const total = rate * seconds;
    const latencies = new Float64Array(total);
    let answered = 0;
    let failure: unknown = null;

    function sendDue(): void {
      while (due.length > 0 && idle.length > 0) {
        const at = due.shift()!;
        const wire = idle.shift()!;
        send(wire).then(
          () => {
            latencies[answered++] = performance.now() - at;
            idle.push(wire);
            sendDue();
          },
          (error: unknown) => (failure = error),
        );
      }
    }

    const began = performance.now();
    for (let scheduled = 0; answered < total && failure === null; await sleep(TICK_MS)) {
      const now = performance.now() - began;
      for (; scheduled < total && (scheduled * 1000) / rate <= now; scheduled += 1)
        due.push(began + (scheduled * 1000) / rate);
      sendDue();
    }
    if (failure !== null) throw failure as Error;
    const perSecond = total / ((performance.now() - began) / 1000);
    return { perSecond, p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
  },
};

serveJobs(jobs);
