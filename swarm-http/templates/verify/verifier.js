/**
 * Verifies takes, proofs, bundles and receipts of Swarm with `verifier.wasm`, in a browser or in Node.js. It says what
 * `swarm verify` says, in the same words.
 */
export class Verifier {
  #module;

  /** A verifier from a compiled `verifier.wasm`. */
  constructor(module) {
    this.#module = module;
  }

  /** Compiles `verifier.wasm` from its bytes or from the answer to a request for it; either may be a promise. */
  static async load(source) {
    const given = await source;
    if (!(given instanceof Response)) return new Verifier(await WebAssembly.compile(given));
    if (!given.ok) throw new Error(`verifier.wasm: ${given.status}`);
    return new Verifier(await WebAssembly.compile(await given.arrayBuffer()));
  }

  /**
   * Verifies a take, a bundle, a take and its proof, a receipt, or a receipt and the body of its request. Each is a text or its
   * bytes; a text is verified in UTF-8. The options are named like those of `swarm verify`.
   *
   * The result has the exit status of `swarm verify`, whether something was `verified`, and its lines or an error.
   */
  async verify(texts, options = {}) {
    // Each verification has a memory of its own, which ends with it, also where the module gives up.
    const { exports } = await WebAssembly.instantiate(this.#module);
    const encoder = new TextEncoder();
    for (const input of [JSON.stringify(options), ...texts]) {
      const bytes = typeof input === 'string' ? encoder.encode(input) : new Uint8Array(input);
      const at = exports.verifier_allocate(bytes.length) >>> 0;
      if (at === 0) return { status: 2, verified: false, error: 'the texts are too large: swarm verify reads them' };
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    }
    exports.verifier_verify();
    const at = exports.verifier_report() >>> 0;
    const report = new Uint8Array(exports.memory.buffer, at, exports.verifier_report_length() >>> 0);
    return JSON.parse(new TextDecoder().decode(report));
  }
}
