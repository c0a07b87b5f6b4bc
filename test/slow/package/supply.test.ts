/** The packages of others that come with the program. */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FROM_DEVELOPMENT } from '../../../.ci/licences.ts'
import { BROUGHT_ALONG, renderSbom } from '../../../.ci/sbom.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import lock from '../../../package-lock.json' with { type: 'json' }
import { temporaryDirectory } from '../../support/temporary.ts'

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url))
const ofNpm = npmSbom()
/** Development alone installs them; their code is in the pages of the package. */
const CONTAINED = ['preact', 'uplot', ...FROM_DEVELOPMENT]
/** Without the list of the library's packages, which is ours (.ci/library). */
const packages = Object.entries(lock.packages).filter(
  ([path, found]) => path.startsWith('node_modules/') && !('link' in found),
)

test('the bill of materials is reproducible and has every hash [S-21]', () => {
  const sbom = renderSbom()
  expect(renderSbom()).toBe(sbom)
  const { components, dependencies } = JSON.parse(sbom)
  const installed = packages.filter(([, found]) => !('dev' in found))
  const contained = CONTAINED.filter((name) => !installed.some(([path]) => path === `node_modules/${name}`))
  expect(components.length).toBe(installed.length + contained.length + BROUGHT_ALONG.length)
  for (const { name, hashes } of components.filter(({ name }: { name: string }) => !BROUGHT_ALONG.includes(name))) {
    expect([name, hashes]).toEqual([name, [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]])
  }
  const known = new Set(dependencies.map(({ ref }: { ref: string }) => ref))
  const named: string[] = dependencies.flatMap(({ dependsOn }: { dependsOn: string[] }) => dependsOn)
  expect(named.filter((ref) => !known.has(ref))).toEqual([])
})

test.skipIf(ofNpm === undefined)('the bill of materials has every component that npm lists [S-16, S-21]', () => {
  const purlsOf = (text: string) => JSON.parse(text).components.map(({ purl }: { purl: string }) => purl)
  const [ours, theirs]: string[][] = [purlsOf(renderSbom()), purlsOf(ofNpm ?? '')]
  expect(theirs?.length).toBeGreaterThan(50)
  const isOurs = (purl: string) => purl.startsWith('pkg:npm/shelfd-library@')
  expect(theirs?.filter((purl) => !ours?.includes(purl) && !isOurs(purl))).toEqual([])
})

test('the bill of materials names each direct dependency [S-16, S-21]', () => {
  const names = JSON.parse(renderSbom()).components.map(({ name }: { name: string }) => name)
  expect([...Object.keys(packageJson.dependencies), ...CONTAINED].filter((name) => !names.includes(name))).toEqual([])
})

test('npm ci says nothing of the Node that it runs itself, whose successor it installs', () => {
  const directory = temporaryDirectory()
  copyFileSync(join(PROJECT, '.npmrc'), join(directory, '.npmrc'))
  for (const name of ['package.json', 'package-lock.json', '.ci/library/package.json']) {
    const text = readFileSync(join(PROJECT, name), 'utf8')
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text.replaceAll(/"node": "[<>=^][^"]*"/g, '"node": ">=99"'))
  }
  // Without what the npm that runs the tests hands on.
  const env = { HOME: directory, PATH: process.env.PATH }
  const args = ['ci', '--dry-run', '--ignore-scripts', '--offline']
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: directory, env, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^added \d+ packages/m)
})

/** The bill of materials that npm itself writes; undefined if npm is too old. */
function npmSbom(): string | undefined {
  try {
    const args = ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only']
    return execFileSync('npm', args, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}
