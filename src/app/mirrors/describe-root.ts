import { join } from 'node:path'
import { createRootScope, GIT_IGNORE_FILE_NAME } from '../../local/ignore/ignore-scope.ts'
import { describeBroadRoot, keepsSecrets } from '../../rules/broad-and-overlapping-roots.ts'
import { isMissing, realPathOf } from '../files/paths-on-disk.ts'

const BUILT_IN = createRootScope({ ignore: [], include: [] })

/** Returns why the directory should not be mirrored without a question (a home, system files, secrets); undefined for any other. */
export function describeRoot(path: string, home: string): string | undefined {
  const real = realPathOf('/', path)
  const isSecret = (name: string) => name !== '' && BUILT_IN.decideEntry('', name, true)?.secret
  const broad = describeBroadRoot(real, realPathOf('/', home))
  return broad ?? (keepsSecrets(real) || real.split('/').some(isSecret) ? 'secrets' : undefined)
}

/** Returns a sentence about a `.gitignore` in the directory that its mirror does not use; undefined without one. */
export function describeUnusedGitignore(path: string, isUsed: boolean | undefined): string | undefined {
  if (isUsed || isMissing(join(path, GIT_IGNORE_FILE_NAME))) return undefined
  return 'has a .gitignore, which is not used; "gitignore: true" in the settings of the mirror uses it'
}
