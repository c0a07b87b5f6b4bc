/** What an installation brings along, by the lock file. */
import { describe, expect, test } from 'vitest'
import library from '../../../.ci/library/package.json' with { type: 'json' }
import packageJson from '../../../package.json' with { type: 'json' }
import lockFile from '../../../package-lock.json' with { type: 'json' }

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly link?: boolean
}

/** Without the list of the library's packages, which is ours (.ci/library). */
const locked = Object.entries<Locked>(lockFile.packages).filter(([place, { link }]) => {
  return place.startsWith('node_modules/') && !link
})

describe('dependencies', () => {
  test('each dependency is locked to a version with its checksum [S-16]', () => {
    const loose = locked.filter(
      ([, { version, integrity }]) => version === undefined || !integrity?.startsWith('sha512-'),
    )
    expect(loose.map(([place]) => place)).toEqual([])
    expect(locked.length).toBeGreaterThan(50)
  })

  test('one dependency at most runs a script at its installation [S-16]', () => {
    const scripts = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([place]) => place)
    const decided = Object.keys(packageJson.allowScripts).map((name) => `node_modules/${name}`)
    expect(scripts.filter((place) => !decided.includes(place))).toEqual([])
    expect(Object.entries(packageJson.allowScripts).filter(([, isAllowed]) => isAllowed)).toEqual([['node', true]])
  })

  test('a checkout installs each optional package, whatever the age of its npm', () => {
    expect(Object.keys(library.dependencies).sort()).toEqual(Object.keys(packageJson.optionalDependencies).sort())
  })

  test('an installed program has few dependencies [S-16]', () => {
    expect(Object.keys(packageJson.dependencies).length).toBeLessThanOrEqual(15)
    expect(Object.keys(packageJson.optionalDependencies).length).toBeLessThanOrEqual(21)
    expect(locked.filter(([, { dev }]) => !dev).length).toBeLessThanOrEqual(225)
  })
})
