// Reads every list with pages to its end, with the types that are generated from the description.
//
// Arguments: the address of the server and the token of an operator. Prints the number of items of each operation as JSON.
import type { components, paths } from "./types";

declare const process: { argv: string[] };

type Answer<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

type Entry = components["schemas"]["LogEntry"];

/** The line that a program prints for an entry: the discriminator narrows each kind. */
export function line(entry: Entry): string {
  switch (entry.kind) {
    case "take":
      return `${entry.seq} take ${entry.id} of ${entry.memberId}`;
    case "session":
      return `${entry.seq} session ${entry.session.id} ${entry.act}`;
    default:
      return `${entry.seq} ${entry.kind}`;
  }
}

const [origin, operator] = process.argv.slice(2);

/** Reads a list in the longest pages. Returns the number of its items. */
async function count<Path extends keyof paths>(
  path: Path,
  items: (page: Answer<Path>) => readonly unknown[],
): Promise<number> {
  let read = 0;
  let next: string | undefined = `${path.replace("{id}", "1")}?limit=500`;
  while (next !== undefined) {
    const answer: Response = await fetch(origin + next, { headers: { "X-Admin-Token": operator } });
    if (!answer.ok) {
      throw new Error(`${next}: ${answer.status}`);
    }
    read += items(await answer.json()).length;
    next = answer.headers.get("Link")?.match(/^<([^>]*)>/)?.[1];
  }
  return read;
}

async function main(): Promise<void> {
  const counts = {
    get_admin_acts: await count("/api/swarm/admin/acts", (page) => page.acts),
    get_admin_applications: await count("/api/swarm/admin/applications", (page) => page.applications),
    get_admin_outbox: await count("/api/swarm/admin/outbox", (page) => page.messages),
    get_admin_webhooks: await count("/api/swarm/admin/webhooks", (page) => page.deliveries),
    get_ic_sessions: await count("/api/ic/sessions", (page) => page.sessions),
    get_log: await count("/api/swarm/log", (page) => page.entries),
    get_memos: await count("/api/swarm/memos", (page) => page.memos),
    get_sessions: await count("/api/swarm/sessions", (page) => page.sessions),
    get_sessions_by_id: await count("/api/swarm/sessions/{id}", (page) => page.takes),
    get_subjects: await count("/api/swarm/subjects", (page) => page.subjects),
    get_takes: await count("/api/swarm/takes", (page) => page.takes),
  };
  console.log(JSON.stringify(counts));
}

main();
