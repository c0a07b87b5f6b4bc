/** What an installation brings along, by the lock file. */
import { describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import lockFile from '../../package-lock.json' with { type: 'json' }

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
}

const locked: [string, Locked][] = Object.entries(lockFile.packages).filter(([place]) => place !== '')

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

  test('an installed program has few dependencies [S-16]', () => {
    expect(Object.keys(packageJson.dependencies).length).toBeLessThanOrEqual(32)
    expect(locked.filter(([, { dev }]) => !dev).length).toBeLessThanOrEqual(225)
  })
})
