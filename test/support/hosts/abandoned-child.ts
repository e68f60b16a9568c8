/** A run that will be killed: starts a networked host, says its name, and waits for its end. */
import { startNetworkedHosts } from "./hosts.ts";

const { all } = await startNetworkedHosts({ count: 1 });
process.stdout.write(`${all[0]!.name}\n`);
setInterval(() => undefined, 60_000);
