/**
 * `npm run packages [-- DIRECTORY]`: makes the packages for Linux in `packages`, or that directory. Their files have the time
 * SOURCE_DATE_EPOCH, or that of the last commit, so the same sources make the same packages.
 */
import { execFileSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { makePackages } from './make-packages.ts'
import { ROOT } from './program-files.ts'

const directory = process.argv[2] ? resolve(process.env.INIT_CWD ?? '', process.argv[2]) : join(ROOT, 'packages')
const given = process.env.SOURCE_DATE_EPOCH
const madeAt = Number(given || execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }))
for (const file of await makePackages({ directory, madeAt, isQuick: false })) process.stdout.write(`${file}\n`)
