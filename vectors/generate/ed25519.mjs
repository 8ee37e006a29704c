// Ed25519: keys and signatures through node:crypto, and the arithmetic that hostile ones are made with.
import { createHash, createPrivateKey, createPublicKey, verify as edVerify } from 'node:crypto';

export const sha256 = (...b) => { const h = createHash('sha256'); for (const x of b) h.update(x); return h.digest(); };
export const sha512 = (...b) => { const h = createHash('sha512'); for (const x of b) h.update(x); return h.digest(); };

// --- Ed25519 through node:crypto ---------------------------------------------
export const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
export const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
export const privFromSeed = (seed) => createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
export const rawPub = (priv) => createPublicKey(priv).export({ format: 'der', type: 'spki' }).subarray(12);
export const pubFromRaw = (raw) => createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
export const nodeVerify = (raw, msg, sig) => { try { return edVerify(null, msg, pubFromRaw(raw), sig); } catch { return false; } };

// --- Ed25519 arithmetic (only to make hostile keys and signatures) ----------
export const P = 2n ** 255n - 19n, L = 2n ** 252n + 27742317777372353535851937790883648493n;
export const mod = (a, m = P) => ((a % m) + m) % m;
export const pow = (b, e, m = P) => { let r = 1n; b = mod(b, m); while (e > 0n) { if (e & 1n) r = r * b % m; b = b * b % m; e >>= 1n; } return r; };
export const inv = (a) => pow(a, P - 2n);
export const D = mod(-121665n * inv(121666n)), SQRTM1 = pow(2n, (P - 1n) / 4n);
export const le = (b) => BigInt('0x' + (Buffer.from(b).reverse().toString('hex') || '0'));
export const toLE = (n, len = 32) => Buffer.from(n.toString(16).padStart(len * 2, '0'), 'hex').reverse();
export const xFromY = (y, s) => { const y2 = y * y, u = mod(y2 - 1n), v = mod(D * y2 + 1n); let x = mod(u * pow(v, 3n) * pow(u * pow(v, 7n), (P - 5n) / 8n)); const vx2 = mod(v * x * x); if (vx2 === mod(-u)) x = mod(x * SQRTM1); else if (vx2 !== u) return null; if ((x & 1n) !== s) x = mod(-x); return x; };
export const ID = { x: 0n, y: 1n };
export const add = (a, b) => { const t = mod(D * a.x * b.x * a.y * b.y); return { x: mod((a.x * b.y + a.y * b.x) * inv(1n + t)), y: mod((a.y * b.y + a.x * b.x) * inv(1n - t)) }; };
export const mul = (p, n) => { let r = ID; for (; n > 0n; n >>= 1n, p = add(p, p)) if (n & 1n) r = add(r, p); return r; };
export const enc = (p) => { const b = toLE(p.y); b[31] |= Number(p.x & 1n) << 7; return b; };
export const BY = mod(4n * inv(5n)), B = { x: xFromY(BY, 0n), y: BY };
export const isId = (p) => p.x === 0n && p.y === 1n;
export function torsion() { // the 8 points of order dividing 8
  for (let y = 2n; ; y++) { const x = xFromY(y, 0n); if (x === null) continue; const t = mul({ x, y }, L); if (isId(mul(t, 4n))) continue; const a = []; let q = ID; for (let i = 0; i < 8; i++) { a.push(q); q = add(q, t); } return a; }
}
export const ordOf = (p) => { let n = 1n, q = p; while (!isId(q)) { q = add(q, p); n++; } return n; };
export function smallOrderEncodings() { // 8 canonical encodings and the non-canonical ones of the same points
  const out = [];
  for (const p of torsion()) {
    const order = ordOf(p), ys = [p.y]; if (p.y + P < 2n ** 255n) ys.push(p.y + P);
    for (const y of ys) for (const s of [0n, 1n]) {
      if (p.x !== 0n && s !== (p.x & 1n)) continue;
      const b = toLE(y); b[31] |= Number(s) << 7;
      out.push({ bytes: b, point: p, order, canonical: y < P && s === (p.x & 1n) });
    }
  }
  return out.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
}
export const scalarOf = (seed) => { const h = sha512(seed).subarray(0, 32); h[0] &= 248; h[31] &= 127; h[31] |= 64; return le(h); };
export const prefixOf = (seed) => sha512(seed).subarray(32);
export const kOf = (R, A, M) => mod(le(sha512(R, A, M)), L);
export function dom2Sign(seed, pub, msg, flag, ctx) { // Ed25519ctx (flag 0) and Ed25519ph (flag 1)
  const dom = Buffer.concat([Buffer.from('SigEd25519 no Ed25519 collisions'), Buffer.from([flag, ctx.length]), ctx]);
  const m = flag ? sha512(msg) : msg;
  const r = mod(le(sha512(dom, prefixOf(seed), m)), L), R = enc(mul(B, r));
  return Buffer.concat([R, toLE(mod(r + mod(le(sha512(dom, R, pub, m)), L) * scalarOf(seed), L))]);
}
