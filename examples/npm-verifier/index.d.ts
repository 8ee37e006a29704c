/** What a reader has from elsewhere. The names are those of the options of `swarm verify`. */
export interface Options {
  /** The key: of a take alone its member's, otherwise the log's. */
  key?: string;
  /** The key that the server names as its log's. It counts where no key is given. */
  servedKey?: string;
  /** The key of the member, for a take with its proof. */
  memberKey?: string;
  /** The method and the path of the request that a receipt answers: `POST /api/swarm/submit`. */
  request?: string;
  /** Keys of members, for a bundle: a member and a key on each line. */
  members?: string;
  /** The witnesses that must have cosigned the checkpoint of a bundle, as a C2SP tlog-policy. */
  policy?: string;
  /** Whether the status is 3 where something is notable. */
  strict?: boolean;
}

/** A line of `swarm verify`, as it prints it. */
export interface Line {
  /** The result of a check; null for a statement, such as what was signed. */
  verdict: 'holds' | 'fails' | 'notable' | 'unproven' | null;
  text: string;
}

/**
 * The exit status of `swarm verify`, whether something was verified and nothing fails, and its lines or why it has none. Of a take
 * whose texts are withheld perhaps nothing can be verified, though nothing fails.
 */
export type Report =
  | { status: 0 | 3; verified: boolean; lines: Line[]; error?: undefined }
  | { status: 1; verified: false; lines: Line[]; error?: undefined }
  | { status: 2; verified: false; error: string; lines?: undefined };

/**
 * Verifies a take, a bundle, a take and its proof, a receipt, or a receipt and the body of its request. Each is a text or its
 * bytes.
 */
export function verify(texts: (string | ArrayBuffer | Uint8Array)[], options?: Options): Promise<Report>;
