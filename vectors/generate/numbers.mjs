// Doubles, and the decimal texts that are read as them.

export const f64 = new Float64Array(1), u64 = new BigUint64Array(f64.buffer);
export const bitsOf = (x) => { f64[0] = x; return u64[0]; };
export const fromBits = (b) => { u64[0] = b; return f64[0]; };
export function exactParts(x) { // x = m * 2^e, x >= 0
  const b = bitsOf(x), ex = Number((b >> 52n) & 0x7ffn), fr = b & 0xfffffffffffffn;
  return ex === 0 ? [fr, -1074] : [fr | 0x10000000000000n, ex - 1075];
}
export function decimalOf(m, e) { // exact decimal text of m * 2^e
  if (e >= 0) return (m << BigInt(e)).toString();
  const k = -e; let s = (m * 5n ** BigInt(k)).toString().padStart(k + 1, '0');
  return s.slice(0, -k) + '.' + s.slice(-k);
}
export const exactDecimal = (x) => { const [m, e] = exactParts(x); return decimalOf(m, e); };
export const midDecimal = (x) => { const [m, e] = exactParts(x); return decimalOf(2n * m + 1n, e - 1); }; // half way to the next double up
export const bumpLast = (s, up) => up ? (s.includes('.') ? s + '0001' : s + '.0001') : (() => { const [i, f = ''] = s.split('.'); const n = BigInt(i + f) * 10n - 1n; const t = n.toString().padStart(f.length + 2, '0'); return t.slice(0, t.length - f.length - 1) + '.' + t.slice(-(f.length + 1)); })();
export function spell(x, rng) { // a JSON number text that parses to exactly x (x finite)
  const neg = x < 0 || Object.is(x, -0), a = Math.abs(x), forms = [JSON.stringify(a)];
  forms.push(a.toExponential(20), a.toExponential(16), a.toExponential().toUpperCase(), a.toExponential().replace(/e([+-])(\d)$/, 'e$10$2'), a.toPrecision(21), a.toPrecision(17));
  if (a < 1e21 && a > 1e-300) { const d = exactDecimal(a); if (d.length < 400) forms.push(d, d.includes('.') ? d + '000' : d + '.0'); }
  if (a !== 0 && a < 1e15 && a > 1e-7) forms.push((a * 1).toString().includes('e') ? a.toExponential() : a.toString() + (a.toString().includes('.') ? '00' : '.000') + 'e0');
  const ok = forms.filter((f) => /^(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(f) && Object.is(JSON.parse(f), a));
  return (neg ? '-' : '') + rng.pick(ok);
}
