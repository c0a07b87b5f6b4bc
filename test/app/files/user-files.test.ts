import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { fileIn, safeFileName, saveFile } from '../../../src/app/files/user-files.ts'

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
