import { spawnSync } from 'node:child_process'
import {
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { createDirectory, fileIn, safeFileName, saveFile } from '../../../src/app/files/user-files.ts'
import { needs } from '../../support/needs.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shelfd-files-'))
})

describe('saving a file', () => {
  test('a saved file replaces another only with force', async () => {
    const file = join(dir, 'a')
    writeFileSync(file, 'old')
    await expect(saveFile(file, ['new'], { force: false })).rejects.toMatchObject({ code: 'bad-usage' })
    expect(readFileSync(file, 'utf8')).toBe('old')
    await saveFile(file, ['new'], { force: true })
    expect(readFileSync(file, 'utf8')).toBe('new')
  })

  test.each([true, false])('a save cut short leaves nothing half written (force: %s)', async (force) => {
    const broken = (async function* () {
      yield 'half'
      throw new Error('cut')
    })()
    await expect(saveFile(join(dir, 'a'), broken, { force })).rejects.toThrow('cut')
    expect(readdirSync(dir)).toEqual([])
  })

  test.each([true, false])('a name of any length can be saved (force: %s)', async (force) => {
    const file = join(dir, 'n'.repeat(255))
    await saveFile(file, ['x'], { force })
    expect(readFileSync(file, 'utf8')).toBe('x')
    const tooLong = join(dir, 'n'.repeat(256))
    await expect(saveFile(tooLong, ['x'], { force })).rejects.toMatchObject({ kind: 'file' })
    expect(readdirSync(dir)).toEqual(['n'.repeat(255)])
  })

  test('a save into no directory names what is missing', async () => {
    const file = join(dir, 'none', 'a')
    const missing = {
      code: 'bad-usage',
      message: `Cannot write "${file}": there is no directory "${join(dir, 'none')}"`,
    }
    await expect(saveFile(file, ['x'], { force: true })).rejects.toMatchObject(missing)
    await expect(saveFile(file, ['x'], { force: false })).rejects.toMatchObject(missing)
    writeFileSync(join(dir, 'none'), '')
    await expect(saveFile(file, ['x'], { force: true })).rejects.toMatchObject(missing)
  })

  describe.each([
    ['ends', undefined],
    ['fails', new Error('cut')],
  ])('while a save %s', (end, failure) => {
    /** Puts a file in the place of the target as an editor saves one, while the save goes on. */
    async function* interrupted(file: string) {
      yield 'half'
      writeFileSync(`${file}.mine`, 'my own work')
      renameSync(`${file}.mine`, file)
      if (failure) throw failure
      yield 'whole'
    }

    test.each([
      ['a new file', false, false],
      ['a new file with force', false, true],
      ['a file that is to be replaced', true, true],
    ])(`what comes into the place of %s stays: the save ${end} [S-28]`, async (_, isThere, force) => {
      const file = join(dir, 'a')
      if (isThere) writeFileSync(file, 'old')
      await expect(saveFile(file, interrupted(file), { force })).rejects.toThrow(
        failure?.message ?? /exists already|meanwhile/,
      )
      expect(readFileSync(file, 'utf8')).toBe('my own work')
      expect(readdirSync(dir)).toEqual(['a'])
    })
  })

  test('what a killed process left unfinished is removed, and what another still writes is not [S-28]', async () => {
    let name = ''
    const spied = (async function* () {
      yield 'half'
      while (name === '') {
        await setImmediate()
        name = readdirSync(dir).find((each) => each.startsWith('.shelfd-')) ?? ''
      }
    })()
    await saveFile(join(dir, 'a'), spied, { force: false })
    const { pid: ended = 0 } = spawnSync('true')
    const other = mkdtempSync(join(tmpdir(), 'shelfd-files-'))
    const of = (pid: number) => name.replace(`-${process.pid}-`, `-${pid}-`)
    for (const pid of [ended, process.ppid]) writeFileSync(join(other, of(pid)), 'half')
    writeFileSync(join(other, '.shelfd-mine.partial'), 'half')
    await saveFile(join(other, 'a'), ['whole'], { force: false })
    expect(readdirSync(other).sort()).toEqual([of(process.ppid), '.shelfd-mine.partial', 'a'].sort())
  })

  test('no link of another user leads what is written elsewhere, and none of their directories below takes it [S-18]', async () => {
    needs('root')
    const elsewhere = mkdtempSync(join(tmpdir(), 'shelfd-files-'))
    for (const name of ['link', 'own']) symlinkSync(elsewhere, join(dir, name))
    lchownSync(join(dir, 'link'), 65534, 65534)
    mkdirSync(join(dir, 'theirs'))
    lchownSync(join(dir, 'theirs'), 65534, 65534)
    symlinkSync(join(elsewhere, 'file'), join(dir, 'file'))
    lchownSync(join(dir, 'file'), 65534, 65534)
    for (const name of ['link', 'link/deeper', 'theirs', 'theirs/deeper']) {
      const refused = { code: 'insecure-file', message: expect.stringContaining('it belongs to user 65534') }
      await expect(createDirectory(join(dir, name), { below: dir })).rejects.toMatchObject(refused)
      await expect(saveFile(join(dir, name, 'a'), ['x'], { force: false, below: dir })).rejects.toMatchObject(refused)
    }
    await expect(saveFile(join(dir, 'file'), ['x'], { force: true })).rejects.toMatchObject({ code: 'insecure-file' })
    expect([readdirSync(elsewhere), readdirSync(join(dir, 'theirs'))]).toEqual([[], []])
    await saveFile(join(dir, 'own', 'a'), ['x'], { force: false, below: dir })
    symlinkSync(join(elsewhere, 'deep', '..'), join(dir, 'round'))
    await createDirectory(join(elsewhere, 'deep'))
    await saveFile(join(dir, 'round', 'b'), ['x'], { force: false })
    expect(readdirSync(elsewhere)).toEqual(['a', 'b', 'deep'])
  })

  test('a directory as the target receives the file under its name', async () => {
    expect(await fileIn(dir, 'x')).toBe(join(dir, 'x'))
    expect(await fileIn(join(dir, 'y'), 'x')).toBe(join(dir, 'y'))
  })
})

describe('names from outside', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', '_.._etc_passwd'],
    ['..', 'download'],
    ['.bashrc', 'bashrc'],
    ['-rf', 'rf'],
    ['C:\\x', 'C__x'],
    ['con.txt', '_con.txt'],
    ['a\u202etxt.exe', 'atxt.exe'],
    ['', 'download'],
    [`${'ü'.repeat(300)}.pdf`, `${'ü'.repeat(98)}.pdf`],
  ])('the name %j from outside becomes %j [S-07]', (name, safe) => {
    expect(safeFileName(name)).toBe(safe)
  })

  test('a name from outside takes no time, however long it is', () => {
    expect(safeFileName(`${'a'.repeat(200_000)}.pdf`)).toBe(`${'a'.repeat(196)}.pdf`)
    expect(safeFileName(`a${'. '.repeat(200_000)}b.pdf`)).toMatch(/^a[. ]+\.pdf$/)
  })

  test('a name from outside stays in its directory, whatever it holds [S-07]', () => {
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[./\\~:a \u202e\0-]{0,40}$/),
      fc.string({ maxLength: 600 }),
    )
    fc.assert(
      fc.property(names, (name) => {
        const safe = safeFileName(name)
        expect(basename(join('/d', safe))).toBe(safe)
        expect(join('/d', safe)).toBe(`/d/${safe}`)
        expect(safe).not.toMatch(/^[.~\s-]|[\s.]$|[\p{Cc}\p{Cf}/\\:*?"<>|]/u)
        expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(201)
        expect(safeFileName(safe)).toBe(safe)
      }),
      { numRuns: 2_000 },
    )
  })
})
