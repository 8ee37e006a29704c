/**
 * The reports of a package on cases: `node reports.mjs FOLDER < cases`. A case is `{ texts, options }`; its report is a line.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { verify } = await import(pathToFileURL(`${process.argv[2]}/index.js`));
for (const { texts, options } of JSON.parse(readFileSync(0, 'utf8'))) {
  const report = await verify(texts, options);
  if (report.status > 0 && report.lines?.every(({ verdict }) => verdict === 'holds')) throw new Error('no verdict');
  console.log(JSON.stringify(report));
}
