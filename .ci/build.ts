/**
 * Compiles src into dist (types are the matter of `npm run check`), copies the SQL migrations beside their readers, and puts what
 * each start needs of yargs into one file.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const [src, dist] = [join(root, 'src'), join(root, 'dist')]
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')

rmSync(dist, { recursive: true, force: true })
execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
for (const file of globSync(join(src, '**', '*.sql'))) cpSync(file, join(dist, relative(src, file)))
await build({
  input: join(root, '.ci', 'yargs-parts.js'),
  platform: 'node',
  output: { file: join(dist, 'cli', 'parser', 'yargs-parts.js'), minify: true },
})
chmodSync(join(dist, 'main.js'), 0o755)
