/** A transaction whose connection is cut in its middle; the program says whether it lived through that. */
import { loadDriverCorrected } from "../../../src/server/db/driver-fix.ts";

const [socket, driver] = process.argv.slice(2);
if (driver === "corrected") loadDriverCorrected();
const { default: postgres } = await import("postgres");
const sql = postgres({ ...(JSON.parse(socket!) as object), max: 2, onnotice: () => undefined });

const lost = sql.begin(async (tx) => {
  const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await sql`select pg_terminate_backend(${row!.pid}, 5000)`;
  for (;;) await tx`select 1`;
});
const failed = await lost.then(
  () => false,
  () => true,
);
await new Promise((done) => setTimeout(done, 200)); // where a timer's exception would end us
const [alive] = await sql<{ n: number }[]>`select 1 as n`;
await sql.end({ timeout: 1 });
process.stdout.write(failed && alive?.n === 1 ? "failed, and goes on\n" : "no\n");
