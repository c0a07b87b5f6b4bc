import { createRootScope } from '../../local/ignore/ignore-scope.ts'
import { describeBroadRoot, keepsSecrets } from '../../rules/broad-and-overlapping-roots.ts'
import { realPathOf } from '../files/paths.ts'

const BUILT_IN = createRootScope({ ignore: [], include: [] })

/** Returns why the directory should not be mirrored without a question (a home, system files, secrets); undefined for any other. */
export function describeRoot(path: string, home: string): string | undefined {
  const real = realPathOf('/', path)
  const isSecret = (name: string) => name !== '' && BUILT_IN.decideEntry('', name, true)?.secret
  const broad = describeBroadRoot(real, realPathOf('/', home))
  return broad ?? (keepsSecrets(real) || real.split('/').some(isSecret) ? 'secrets' : undefined)
}
