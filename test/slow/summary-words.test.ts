/** What a person reads after a run: plain words, what matters first, the right number. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/commands.ts'
import { configure } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

/** The lines of a summary, with every duration made the same. */
function linesOf(stdout: string): string[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/\d+(\.\d+)? (ms|s)\b/g, 'T'))
}

describe('the summary of a run', () => {
  test('the summary counts the files sent, copied and left out', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B', 'copy.md': 'A', '.env': 'SECRET=1' })
    const first = await home.shelfd(['sync', 'Papers'])
    expect(linesOf(first.stdout)).toEqual(
      expect.arrayContaining([
        'Papers → Papers:/Papers',
        '  sent        2 files, 2 B (1 more is a copy)',
        expect.stringMatching(/^ {2}searchable {2}3 files \(1 of them is a copy\), at once$/),
        '  left out    1 (looks like a secret)',
        'Done in T.',
      ]),
    )
    expect(first.stderr).not.toMatch(/warn/)
    const again = await home.shelfd(['sync', 'Papers'])
    expect(linesOf(again.stdout)).toEqual(
      expect.arrayContaining(['  unchanged   3 files', expect.stringMatching(/^Done in T/)]),
    )
    expect(again.stdout).not.toMatch(/sent {2}/)
  })

  test('the summary says that unchanged files were left by the last run', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B', 'c.md': 'C' })
    expect((await home.shelfd(['sync', 'Papers', '--max-new', '1'])).exitCode).toBe(8)
    const { stdout } = await home.shelfd(['sync', 'Papers'])
    expect(linesOf(stdout)).toEqual(
      expect.arrayContaining([
        '  sent        2 files, 2 B',
        '  unchanged   3 files; the last run had left some, which are sent now',
      ]),
    )
  })

  test('the summary uses the singular for one file', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'copy.md': 'A' })
    expect((await home.shelfd(['sync', 'Papers', '-n'])).stdout).toMatch(/would send +1 file, 1 B \(1 more is a copy\)/)
    expect((await home.shelfd(['sync', 'Papers'])).stdout).toMatch(
      /searchable +2 files \(1 of them is a copy\), at once/,
    )
    writeFileSync(join(home.path, 'Papers/third.md'), 'A')
    expect((await home.shelfd(['sync', 'Papers'])).stdout).toMatch(/sent +nothing; 1 copy of files already sent/)
  })

  test('the summary says that nothing was sent where all was there already', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B' })
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
    rmSync(join(home.path, 'state'), { recursive: true })
    const { stdout } = await home.shelfd(['sync', 'Papers', '--adopt'])
    expect(stdout).toMatch(/sent +nothing; 2 files were there already$/m)
  })

  test('the summary ends with the number of problems', async () => {
    const { service, home } = await homeOnService({ 'a.md': 'A', 'b.md': 'B' })
    service.answer = ({ fileName }) => (fileName === 'a.md' ? { status: 422, body: { message: 'No' } } : undefined)
    const { exitCode, stdout } = await home.shelfd(['sync', 'Papers', '--to', 'Research'])
    expect(exitCode).toBe(1)
    expect(linesOf(stdout).at(-1)).toBe('Done with 1 problem in T.')
    expect(stdout).toMatch(/^ {2}! a\.md: .*\[.*\]; tried again after/m)
    expect(stdout).not.toMatch(/aliases|contents|in doubt|Failed/)
  })
})

test('problems of many files are one line by cause and directory, in sync and status', async () => {
  const home = temporaryHome()
  const large = Array.from({ length: 60 }, (_, n) => [
    `${n < 40 ? 'scans' : 'old/maps'}/${n}.bin`,
    'x'.repeat(1_100 + n),
  ])
  configure(home, {
    mirrors: [
      { name: 'papers', path: home.write('Papers', Object.fromEntries(large)), library: 'Papers', maxSize: '1KB' },
    ],
  })
  const line =
    '  ! 60 files: larger than maxSize; raise maxSize, or leave it out with an ignore rule [over-max-size]: 40 in scans/, 20 in old/maps/'
  expect((await home.shelfd(['sync'])).stdout.split('\n')).toContain(line)
  expect((await home.shelfd(['status'])).stdout.split('\n')).toContain(line)
})

test('a quiet check prints nothing while all is well, and only what fails it otherwise', async () => {
  const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B' })
  // Nothing fails for it.
  execFileSync('mkfifo', [join(home.path, 'Papers/pipe')])
  await home.shelfd(['sync', 'Papers'])
  expect(await home.shelfd(['report', '--check', '--quiet'])).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  home.write('Papers', { 'new.md': 'C' })
  const { exitCode, stdout, stderr } = await home.shelfd(['report', '--check', '--quiet'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
  expect(stdout).toMatch(/^Papers: .*\n {2}\+ new\.md: new\n {2}\+ +1 local-only\n$/)
})

test('a report says where the rows are that it does not show', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  await home.shelfd(['sync', 'Papers'])
  home.write('Papers', Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`${index}.md`, `${index}`])))
  const rest = 'the first 20 are above; all: shelfd report --only local-only'
  expect((await home.shelfd(['report'])).stdout).toContain(rest)
  expect((await home.shelfd(['report', '--only', 'local-only'])).stdout).not.toContain(rest)
})

test('files that changed more recently than --min-age wait for a later run, and are told', async () => {
  const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B' })
  await home.shelfd(['sync', 'Papers'])
  home.write('Papers', { 'a.md': 'changed', 'new.md': 'C' })
  const { summary, mirror } = await home.sync(['Papers', '--min-age', '1h'])
  expect(summary.verdict).toBe('ok')
  expect(mirror).toMatchObject({ uploads: { created: 0 }, files: { new: 0, changed: 0, removed: 0 } })
  // The file that did not change may be too young for its times to prove that.
  expect([2, 3]).toContain(mirror.files.tooNew)
  expect((await home.shelfd(['sync', 'Papers', '--min-age', '1h'])).stdout).toMatch(
    /^ {2}too new {5}[23] files, for a later run/m,
  )
  expect((await home.sync(['Papers', '--min-age', '0s'])).mirror.uploads.created).toBe(2)
})

test('a missing directory beside another keeps the summary', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  const { exitCode, stdout } = await home.shelfd(['sync', 'nosuchdir', 'Papers'])
  expect(exitCode).toBe(3)
  expect(linesOf(stdout)).toEqual(expect.arrayContaining(['  sent        1 file, 1 B', 'Done with 1 problem in T.']))
})

test('a dry run during ingestion exits 0 and counts its files', async () => {
  await using service = await startFaultyService({ library: 'Research' })
  service.rewrite = ({ route }, body) => (route === 'showResource' ? { ...body, ingestion_status: 'running' } : body)
  const home = homeWithPapers({ 'a.md': 'A', 'b.md': 'B' }, service)
  await home.shelfd(['sync', 'Papers', '--to', 'Research', '--no-wait'])
  const { exitCode, stdout } = await home.shelfd(['sync', 'Papers', '--dry-run'])
  expect(linesOf(stdout).at(-1)).toBe('Dry run in T: nothing was sent; 2 files are still being processed.')
  expect(exitCode).toBe(0)
})

test('summary, status and report count the same files, or say what differs', async () => {
  const papers = { 'a.md': 'moon', 'torn.docx': 'PK\x03\x04torn', 'data.bin': '\0\x01\xfe' }
  const copies = Object.fromEntries(Object.entries(papers).map(([name, text]) => [`copies/${name}`, text]))
  const home = homeWithPapers({ ...papers, ...copies })
  const { stdout } = await home.shelfd(['sync', 'Papers', '--report'])
  expect(linesOf(stdout)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ {2}sent {8}3 files, \d+ B \(3 more are copies\)$/),
      expect.stringMatching(/^ {2}searchable {2}2 files \(1 of them is a copy\)/),
      "  ! 2 stored, but their text can't be searched (2 other)",
      'Done with 1 problem in T.',
      '  =        4 in-sync',
      '           2 of them without searchable text (2 other)',
      '  !        2 needs-attention',
      '           1 of them a copy of another',
    ]),
  )
  const status = linesOf((await home.shelfd(['status'])).stdout)
  expect(status).toContain('  ! 1 problem · 2 files searchable')
  expect(status).toContainEqual(
    expect.stringMatching(
      /^ {2}! 2 files are stored, but their text can't be searched; "shelfd report Papers --only without-text" /,
    ),
  )
  home.write('Papers', { 'third.docx': papers['torn.docx'], 'b.md': 'tide' })
  const again = linesOf((await home.shelfd(['sync', 'Papers'])).stdout)
  expect(again).toContain('  sent        1 file, 4 B (1 more is a copy)')
  expect(again).toContainEqual(expect.stringMatching(/^ {2}searchable {2}1 file, /))
})

test('no earlier version without searchable text counts as searchable', async () => {
  const papers = { 'note.md': 'moon', 'torn.docx': 'PK\x03\x04torn', 'data.bin': '\0\x01\xfe' }
  const home = homeWithPapers(papers)
  await home.shelfd(['sync', 'Papers'])
  for (const name of Object.keys(papers)) writeFileSync(join(home.path, 'Papers', name), '\0PK\x03\x04 another')
  const { stdout } = await home.shelfd(['sync', 'Papers', '--report'])
  expect(stdout).toMatch(/^ {2}changed +3 files; versions that were sent stay in the library$/m)
  expect(stdout.match(/\S+(?= → .*still searchable$)/gm)).toEqual(['note.md'])
  const of = async (name: string) => (await home.shelfd(['why', `Papers/${name}`, '--offline'])).stdout
  expect(await of('note.md')).toMatch(/^earlier version .*; still searchable$/m)
  for (const name of ['torn.docx', 'data.bin']) expect(await of(name)).not.toMatch(/searchable/)
})

describe('internal words', () => {
  const INTERNAL = /\balias(es)?\b|\bin doubt\b|second location|\bcontents\b(?! of)/i

  test('no help text uses an internal word', async () => {
    const home = temporaryHome()
    for (const { name } of commands) {
      const { stdout } = await home.shelfd([...name.split(' '), '--help'])
      expect({ name, found: stdout.match(INTERNAL)?.[0] }).toEqual({ name, found: undefined })
    }
  })

  test('no report of changed files uses an internal word', async () => {
    const home = homeWithPapers({ 'a.md': 'A', 'copy.md': 'A', 'b.md': 'B' })
    await home.shelfd(['sync', 'Papers'])
    writeFileSync(join(home.path, 'Papers/b.md'), 'another')
    await home.shelfd(['sync', 'Papers'])
    const { stdout } = await home.shelfd(['report'])
    expect(stdout).toMatch(/^ {2}\^ +1 superseded \(still in the library\)\n +1 of them replaced by a newer version$/m)
    expect(stdout).not.toMatch(INTERNAL)
  })
})
