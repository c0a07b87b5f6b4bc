import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { titleOf } from '../../src/embedded/storage/slug.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { DANGEROUS, HOSTILE_MARKS } from '../support/hostile-text.ts'
import { readLibrary, titlesIn } from '../support/library-contents.ts'

const NFC = 'caf\u00e9.md'
const NFD = 'cafe\u0301.md'

const NAMES = [
  'new\nline.md',
  'escape\u001b[31mred.md',
  'carriage\rreturn.md',
  'bidi\u202egnp.md',
  'c1\u009b31m.md',
  'quote".md',
  "apostrophe'.md",
  'back\\slash.md',
  ' leading and trailing .md',
  '-rf.md',
  '%41%00%2e%2e.md',
  'semi;colon&and.md',
  '名前.md',
  '🙂.md',
  '..md',
  `${'x'.repeat(252)}.md`,
  NFC,
  NFD,
  'UPPER.md',
  'upper.md',
]

describe('hostile names', () => {
  test('hostile names are mirrored one by one and escaped [F-FS-11, F-FS-13, S-19]', async () => {
    const { service, home } = await homeOnService(Object.fromEntries(NAMES.map((name) => [name, `content of ${name}`])))
    home.write('Papers/dir\n"\u202e', { 'inside.md': 'inside' })
    const to = ['Papers', '--to', 'Research']
    const { exitCode, stdout, stderr } = await home.shelfd(['sync', ...to, '--report', '-vv'])
    expect({ exitCode, problems: stderr.match(/problem.*/g) }).toEqual({ exitCode: 0, problems: null })
    expect(stdout + stderr).not.toMatch(DANGEROUS)
    expect(titlesIn(service)).toEqual([...NAMES.map(titleOf), 'inside.md'].sort())

    const second = await home.sync(to)
    expect(second.mirror.uploads).toMatchObject({ created: 0, duplicates: 0 })
    expect(second.mirror.files).toMatchObject({ scanned: NAMES.length + 1, unchanged: NAMES.length + 1 })

    for (const format of ['text', 'combined', 'json']) {
      const report = await home.shelfd(['report', '--format', format, '--only', 'in-sync'])
      expect([format, DANGEROUS.test(report.stdout)]).toEqual([format, false])
      if (format === 'combined') expect(report.stdout.trim().split('\n')).toHaveLength(NAMES.length + 1)
      if (format !== 'json') continue
      const paths = JSON.parse(report.stdout).mirrors[0].entries.map((entry: { path: string }) => entry.path)
      expect(paths.sort()).toEqual([...NAMES, 'dir\n"\u202e/inside.md'].sort())
    }
  })

  test('hostile words of a service are escaped by every command [S-08, S-19]', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const marks = `${HOSTILE_MARKS.filter((mark) => !mark.includes('\0') && mark.isWellFormed()).join('')}\n`
    const home = temporaryHome(service)
    const root = home.write('Papers', { [`bad${marks}.md`]: 'bad', [`odd${marks}.md`]: 'odd' })
    const answer = { status: 422, body: { message: `no ${marks}`, errors: { [marks]: [marks] } } }
    service.answer = ({ route, body }) => {
      if (route === 'uploadFile' && body.includes('name="file"; filename="bad')) return answer
      return route === 'searchResources' || route === 'showLibrary' ? answer : undefined
    }
    service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: marks } : body)
    for (const args of [
      ['sync', 'Papers', '--to', 'Research', '--report', '-vv'],
      ['sync', 'Papers', '--to', 'Research', '--json'],
      ['sync', 'Papers', '--to', 'Research', '-n', '-v', '--log-format', 'json'],
      ...['text', 'combined', 'json', 'csv', 'html', 'markdown'].map((format) => [
        'report',
        '--all',
        '--format',
        format,
      ]),
      ...[[], ['--json']].flatMap((json) => [
        ['status', ...json],
        ['why', join(root, `bad${marks}.md`), ...json],
        ['failed', 'list', ...json],
        ['mirrors', 'list', ...json],
        ['mirrors', 'show', 'Papers', ...json],
        ['ls', 'Research:/Papers', ...json],
        ['search', marks, ...json],
        ['libraries', 'show', 'Research', ...json],
        ['mkdir', `Research:/${marks}`, ...json],
        ['history', ...json],
        ['why', marks, ...json],
        [`no${marks}`, ...json],
        ['status', `--${marks}`, ...json],
      ]),
    ]) {
      const { stdout, stderr } = await home.shelfd(args)
      expect([args[0], (stdout + stderr).match(DANGEROUS)]).toEqual([args[0], null])
    }
    const { stdout } = await home.shelfd(['failed', 'list', '--json'])
    expect(stdout).toContain('bad')
  })

  test('names that are not UTF-8 are reported as problems [F-FS-12]', async () => {
    const { home, root } = await homeOnService({ 'good.md': 'good', '\ufffd.md': 'a true replacement character' })
    writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9, 0x2e, 0x6d, 0x64])]), 'latin-1')
    const to = ['Papers', '--to', 'Research']
    const { exitCode, mirror } = await home.sync(to)
    expect(exitCode).toBe(1)
    expect(mirror.uploads.created).toBe(2)
    expect(mirror.files).toMatchObject({ scanned: 2, unsupported: 0 })
    expect(mirror.problems).toMatchObject([{ path: 'caf\\xE9.md', code: 'name-not-utf8' }])
    expect((await home.sync(to)).exitCode).toBe(1)
    const { stdout } = await home.shelfd(['report', '--format', 'combined'])
    expect(stdout.split('\n').filter((line) => line.startsWith('!'))).toEqual(['! caf\\xE9.md'])
  })

  test('an odd remote path is used as it is written', async () => {
    await using service = await startFaultyService()
    const name = 'Li "bra" ry:\u202e/x'
    const home = temporaryHome(service)
    const made = await home.shelfd(['libraries', 'create', 'Plain'])
    expect(made.exitCode).toBe(0)
    home.write('Papers', { 'a.md': 'A' })
    expect((await home.sync(['Papers', '--to', 'Plain:/with space/and "quotes"/名'])).exitCode).toBe(0)
    expect(await home.shelfd(['sync', 'Papers', '--to', name])).toMatchObject({ exitCode: 2 })
    const places = readLibrary(service.dataDir).flatMap((resource) => resource.places)
    expect(places).toEqual(['/with space/and "quotes"/名/a.md'])
  })
})

describe('links, pipes and secrets', () => {
  test('links and pipes are left out and never block [P9, F-FS-08, F-FS-10, F-FS-15]', async () => {
    const { service, home, root } = await homeOnService({
      'a.md': 'A',
      'empty.md': '',
      'elsewhere/secret.md': 'S',
      'empty/': '',
    })
    home.write('outside', { 'b.md': 'outside' })
    mkdirSync(join(root, 'sub'))
    execFileSync('mkfifo', [join(root, 'pipe.md')])
    execFileSync('ln', ['-s', join(home.path, 'outside'), join(root, 'link')])
    execFileSync('ln', ['-s', 'a.md', join(root, 'link.md')])
    execFileSync('ln', ['-s', '..', join(root, 'sub', 'loop')])
    execFileSync('ln', [join(root, 'a.md'), join(root, 'hard-link.md')])
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 0, problems: [] })
    expect(mirror.files).toMatchObject({ scanned: 4, unsupported: 1, ignored: 3 })
    expect(mirror.uploads).toMatchObject({ created: 3, aliases: 1 })
    const titles = titlesIn(service)
    expect(titles).toEqual(['a.md', 'empty.md', 'secret.md'])
    const ignored = await home.shelfd(['report', '--format', 'combined', '--only', 'ignored'])
    expect(ignored.stdout.trim().split('\n').sort()).toEqual(['i link', 'i link.md', 'i sub/loop'])
    const report = await home.shelfd(['report', '--format', 'combined', '--only', 'needs-attention'])
    expect(report.stdout).toBe('! pipe.md\n')
  })

  test('secrets stay on this computer and are reported once', async () => {
    const { service, home } = await homeOnService({
      'a.md': 'A',
      '.env': 'PASSWORD=1',
      'deep/id_rsa': 'KEY',
      'deep/.ssh/config': 'x',
      '.git/HEAD': 'x',
    })
    const dry = await home.shelfd(['sync', 'Papers', '--to', 'Research', '--dry-run'])
    expect(dry.stdout.match(/look like a secret|look like secrets/g)).toHaveLength(1)
    const { exitCode, mirror } = await home.sync(['Papers', '--to', 'Research'])
    expect(exitCode).toBe(0)
    expect(mirror.uploads.created).toBe(1)
    expect(mirror.files.secrets).toBe(3)
    expect(service.requests.filter(({ body }) => /PASSWORD|KEY/.test(body.toString('latin1')))).toEqual([])
  })
})
