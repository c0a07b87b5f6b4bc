/** The first sync prints where the data went and what to do next. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSize } from '../../src/foundation/text/units.ts'
import { configure, startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'

const TREE = {
  '2024.md': 'no words',
  'a1.md': 'none',
  'notes/spring-tide.md': '# High water\n',
  'big.bin': Buffer.alloc(3 * 2 ** 20),
}
const WHERE =
  'No service is configured: Papers goes into the library on this computer\n(~/data/shelfd/library). Nothing leaves it.\n'

describe('the first sync into the library on this computer', () => {
  test('the first sync names where files go, their space, and a search that finds something', async () => {
    const home = homeWithPapers(TREE)
    const { stderr, exitCode } = await home.run(['sync', 'Papers'])
    expect(exitCode).toBe(0)
    expect(stderr.startsWith(WHERE)).toBe(true)
    const [, size = ''] = /The library takes (.+) on this computer \(~\/data\/shelfd\/library\)\.\n/.exec(stderr) ?? []
    const sizeBytes = parseSize(size) ?? 0
    expect(sizeBytes).toBeGreaterThan(3 * 2 ** 20)
    expect(sizeBytes).toBeLessThan(20 * 2 ** 20)
    const [, query = ''] = /^Next: shelfd search "(.+)" · shelfd report · shelfd daemon$/m.exec(stderr) ?? []
    expect(query).toBe('spring tide')
    expect((await home.run(['search', query])).stdout).toContain('spring-tide.md')
  })

  test('the place of the data is printed once, never with --quiet or --json', async () => {
    const home = homeWithPapers(TREE)
    expect((await home.shelfd(['sync', '-n', 'Papers'])).stderr).toMatch(
      /Papers would go into .*\n.* Nothing leaves it\.\n/,
    )
    const other = temporaryHome()
    other.write('Papers', TREE)
    expect((await other.shelfd(['sync', 'Papers', '-q'])).stderr).toBe('')
    expect((await home.shelfd(['sync', 'Papers', '--json'])).stderr).toBe('')
    home.write('Papers', { 'more.md': 'more' })
    expect((await home.shelfd(['sync', 'Papers'])).stderr).toBe('')
  })

  test('the first sync suggests no command that would look elsewhere', async () => {
    const home = homeWithPapers(TREE)
    const named = await home.shelfd(['sync', 'Papers', '--state-dir', 'named'])
    expect(named.stderr).toContain(
      'Next: shelfd --state-dir named search "spring tide" · shelfd --state-dir named report',
    )
    const other = homeWithPapers(TREE)
    const { stderr } = await other.shelfd(['sync', 'Papers'], { SHELFD_STATE_DIR: join(other.path, 'elsewhere') })
    expect(stderr).toMatch(/ on this computer \(.*\)\.\n$/)
  })

  test('a hit names each file with the same content', async () => {
    const home = homeWithPapers({ 'a/sails.md': 'about sails', 'b/copy.md': 'about sails' })
    await home.sync(['Papers'])
    for (const directory of ['a', 'b'])
      expect((await home.shelfd(['search', 'sails', '--in', `Papers/${directory}`])).stdout).not.toContain('moved')
    const { stdout } = await home.shelfd(['search', 'sails'])
    expect(stdout).toMatch(
      /sails\.md\n(?:.*\n)+ +same content: .*copy\.md|copy\.md\n(?:.*\n)+ +same content: .*sails\.md/,
    )
  })

  test('npm start suggests a search, a directory and the dashboard', async () => {
    const home = temporaryHome()
    for (const name of ['docs', 'Papers']) home.write(name, TREE)
    const npmStart = {
      npm_lifecycle_event: 'start',
      npm_package_name: 'shelfd',
      npm_package_json: join(home.path, 'package.json'),
    }
    expect((await home.shelfd(['sync', 'docs'], npmStart)).stderr).toMatch(
      /\nNext: shelfd search "spring tide" · npm start -- DIR \(a directory of yours\)\n$/,
    )
    expect((await home.shelfd(['sync', 'Papers'], npmStart)).stderr).toMatch(
      /\nNext: shelfd search "spring tide" · shelfd dashboard\n$/,
    )
  })

  test('a search before it says that nothing was mirrored, and makes nothing', async () => {
    const home = temporaryHome()
    expectExit(await home.shelfd(['search', 'sails']), 2, 'Nothing was mirrored yet')
    expect([existsSync(home.dataDir), existsSync(home.stateDir)]).toEqual([false, false])
  })

  test('the library that --to names is made, but none that is named by an identifier', async () => {
    const home = homeWithPapers(TREE)
    expect((await home.sync(['Papers', '--to', 'Foo'])).mirror).toMatchObject({ library: { name: 'Foo' } })
    expect((await home.sync(['Papers', '--to', 'Foo'])).mirror.uploads.created).toBe(0)
    home.write('Other', {})
    for (const to of ['Foo:notes', '0'.repeat(32)])
      expectExit(await home.shelfd(['sync', 'Other', '--to', to]), 2, 'there is no library')
  })

  test('the search that is offered has no words of a secret, and does not name an empty file', async () => {
    const home = homeWithPapers({
      'empty swell.md': '',
      'my password is hunter.md': 'x',
      'AbCdEfGh tide.md': 'x',
      'x/kennwort bank.md': 'y',
    })
    expect((await home.shelfd(['sync', 'Papers'])).stderr).toContain('Next: shelfd search "tide" · ')
  })

  test('the first sync beside a daemon names the place too', async () => {
    const home = homeWithPapers(TREE)
    configure(home, { mirrors: [{ name: 'other', path: home.write('Other', {}) }] })
    const daemon = await startDaemon(home)
    const { stderr } = await home.run(['sync', 'Papers'])
    expect(stderr.startsWith(WHERE)).toBe(true)
    expect(stderr).toContain('Next: shelfd search "spring tide" · shelfd report · shelfd status\n')
    await daemon.stop()
  })
})

test('the first sync into a service claims nothing of this computer', async () => {
  const service = await startFaultyService({ library: 'Test' })
  const home = homeWithPapers(TREE, service)
  const { stderr } = await home.run(['sync', 'Papers', '--to', 'Test'])
  expect(stderr).not.toMatch(/this computer|Nothing leaves/)
  expect(stderr).toContain('Next: shelfd search WORDS · shelfd report · shelfd daemon\n')
  expect(service.count('searchResources')).toBe(0)
})
