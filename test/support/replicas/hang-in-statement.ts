/** Takes a row's lock and stops between the halves of its next statement: announced to the database, not yet asked for. */
import { writeSync } from "node:fs";
import postgres from "postgres";

const sql = postgres({
  ...(JSON.parse(process.argv[2]!) as object),
  max: 1,
  connection: { application_name: "fairlead", idle_in_transaction_session_timeout: 1_000 },
});
await sql.begin(async (tx) => {
  await tx`select * from held for update`;
  const second = tx`select ${1}::int as n`.execute();
  setImmediate(() =>
    setImmediate(() => {
      writeSync(1, "hangs\n");
      process.kill(process.pid, "SIGSTOP");
    }),
  );
  await second;
});
