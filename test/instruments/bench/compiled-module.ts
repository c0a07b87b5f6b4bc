import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { PROJECT } from '../../support/compiled-program.ts'

/**
 * Bundles one module beside the compiled program, as plain JavaScript that starts as fast as the program does; packages stay
 * outside. Returns its path.
 */
export async function compileModule(program: string, source: URL): Promise<string> {
  const input = fileURLToPath(source)
  const file = join(dirname(program), '..', 'modules', `${basename(input, '.ts')}.mjs`)
  await build({
    cwd: PROJECT,
    input,
    platform: 'node',
    external: /^[^./]/,
    logLevel: 'warn',
    output: { file, format: 'esm', codeSplitting: false },
  })
  return file
}
