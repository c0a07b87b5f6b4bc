import type { ConfiguredMirror, Settings } from '../settings.ts'

export interface MirrorProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Finds conflicts between mirrors; each problem is placed at the later of the two. */
export function findMirrorProblems(settings: Settings, hasLibrary: (index: number) => boolean): MirrorProblem[] {
  return settings.mirrors.flatMap((mirror, index) => {
    const earlier = settings.mirrors.slice(0, index)
    const problem = (key: string, message: string) => [{ path: ['mirrors', index, key], message }]
    const twin = earlier.find((other) => other.name === mirror.name)
    if (twin) return problem('name', `two mirrors are named "${mirror.name}"`)
    const double = earlier.find((other) => other.path === mirror.path)
    if (double) {
      const both = `the mirrors "${double.name}" and "${mirror.name}"`
      return problem('path', `${both} stand for one directory ("${mirror.path}"), which would be sent twice`)
    }
    if (settings.service.kind === 'configured' && !hasLibrary(index)) {
      return problem(
        'library',
        `"mirrors[${index}].library" is missing: a configured service needs its identifier or name`,
      )
    }
    const rival = earlier.find((other) => overlaps(other, mirror))
    if (!rival) return []
    const both = `"${rival.name}" and "${mirror.name}"`
    return problem('remotePath', `the mirrors ${both} share "${mirror.remotePath}" of the library "${mirror.library}"`)
  })
}

function overlaps(left: ConfiguredMirror, right: ConfiguredMirror): boolean {
  if (left.library !== right.library) return false
  return isWithin(left.remotePath, right.remotePath) || isWithin(right.remotePath, left.remotePath)
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(parent === '/' ? '/' : `${parent}/`)
}
