/**
 * `node .ci/build.ts [DIRECTORY [ENTRY]]`: bundles src into dist, or that directory, with the manual; ENTRY is one more file that tests
 * load of it. Types are the matter of `npm run check`.
 */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'
import { writeManPages } from './man/man-pages.ts'

const dist = process.argv[2] ?? fileURLToPath(new URL('../dist', import.meta.url))

rmSync(dist, { recursive: true, force: true })
await bundle(dist, process.argv.slice(3, 4))
chmodSync(join(dist, 'main.js'), 0o755)
await writeManPages(join(dist, 'man'))
