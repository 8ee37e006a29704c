// Uses the types that are generated from the description, as a program does.
import type { components, paths } from "./types";

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

export async function titles(origin: string): Promise<string[]> {
  const sessions: Answer<"/api/swarm/sessions"> = await (await fetch(`${origin}/api/swarm/sessions`)).json();
  const memos: Answer<"/api/swarm/memos"> = await (await fetch(`${origin}/api/swarm/memos`)).json();
  const me: Answer<"/api/swarm/me"> = await (await fetch(`${origin}/api/swarm/me`)).json();
  return [
    ...sessions.sessions.map((session) => `${session.date} ${session.subjectId}`),
    ...memos.memos.map((memo) => memo.title),
    ...me.sessions.filter((session) => session.mayFile).map((session) => `${session.id}`),
  ];
}
