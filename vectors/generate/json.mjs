// JSON texts, canonical and otherwise.

// --- JSON text assembly -------------------------------------------------------
// An entry is [key, rawJsonText]; style decides whitespace and escaping.
export const jstr = JSON.stringify;
export function escAll(s, rng, mode) { // other legal JSON spellings of the same string; a surrogate pair is escaped whole or not at all
  let o = '"';
  for (const ch of s) {
    const c = ch.codePointAt(0), u = (up) => [...Array(ch.length).keys()].map((i) => '\\u' + ((h) => up ? h.toUpperCase() : h)(ch.charCodeAt(i).toString(16).padStart(4, '0'))).join('');
    const special = c < 0x20 || c === 0x22 || c === 0x5c || c >= 0x7f;
    if (mode === 'ascii' && special) o += u(false);
    else if (mode === 'upper' && special) o += u(true);
    else if (mode === 'all') o += u(false);
    else if (mode === 'slash' && c === 0x2f) o += '\\/';
    else if (mode === 'mixed' && rng.int(3) === 0) o += u(rng.int(2) === 0);
    else o += jstr(ch).slice(1, -1);
  }
  return o + '"';
}
export function assemble(entries, style = 'compact') {
  const ws = { compact: ['', '', '', ''], spaced: [' ', ' ', ' ', ''], pretty: ['\n  ', ' ', '', '\n'], wild: ['\r\n\t ', '\t \n', ' \r', ' \t\r\n '] }[style];
  return '{' + entries.map(([k, v]) => ws[0] + (k.startsWith('"') ? k : jstr(k)) + ws[2] + ':' + ws[1] + v).join(ws[2] + ',') + ws[3] + '}';
}

// --- the canonical rule, as the interface states it ---------------------------
export function canonicalOf(text) {
  const r = JSON.parse(text);
  const o = { memberId: r.memberId, date: r.date, subjectId: r.subjectId, nonce: r.nonce, stance: r.stance, confidence: r.confidence, body: r.body ?? '', memoUrl: r.memoUrl ?? '' };
  if (r.weights !== undefined && r.weights !== null) o.weights = r.weights.map((w) => ({ bucket: w.bucket, weight: w.weight }));
  return JSON.stringify(o);
}
