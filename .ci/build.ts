/** `node .ci/build.ts [DIRECTORY]`: bundles src into dist, or that directory. Types are the matter of `npm run check`. */
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.ts'

const dist = process.argv[2] ?? fileURLToPath(new URL('../dist', import.meta.url))

rmSync(dist, { recursive: true, force: true })
await bundle(dist)
chmodSync(join(dist, 'main.js'), 0o755)
