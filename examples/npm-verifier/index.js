/**
 * Verifies takes, proofs, bundles and receipts of Swarm, in Node.js and in browsers, without a network.
 */
import { Verifier } from './verifier.js';

/** The bytes of `verifier.wasm`, which is beside this file. */
async function wasm() {
  const address = new URL('./verifier.wasm', import.meta.url);
  if (address.protocol !== 'file:') return fetch(address);
  const { readFile } = await import('node:fs/promises');
  return readFile(address);
}

let verifier;

/**
 * Verifies a take, a bundle, a take and its proof, a receipt, or a receipt and the body of its request. Each is a text or its
 * bytes.
 */
export async function verify(texts, options) {
  verifier ??= Verifier.load(wasm());
  return (await verifier).verify(texts, options);
}
