// Runs scenarios one after the other in one process, since it takes Node longer to read a client than to use it.
import { createInterface } from "node:readline";

// Each line of standard input is [NAME, ...ARGUMENTS] as JSON, and is answered by a line among those that the
// client writes: "FAILED: " and what failed, as JSON, or "".
export async function run(scenarios, begin) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...given] = JSON.parse(line);
    begin(...given);
    const failed = await scenarios[name]().then(() => "", said);
    console.log(`FAILED: ${JSON.stringify(failed)}`);
  }
  // The connections that a client keeps alive would hold Node for half a minute.
  process.exit(0);
}

function said(error) {
  const data = error.response?.data;
  const shown = typeof data?.pipe === "function" ? "" : JSON.stringify(data);
  return [error.stack, error.config?.method, error.config?.url, shown].join(" ");
}
