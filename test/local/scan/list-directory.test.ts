import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readIgnoreFile } from '../../../src/local/ignore/ignore-files.ts'
import { createRootScope, type ScanRules } from '../../../src/local/ignore/ignore-scope.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { inspectRoot } from '../../../src/local/read/open-and-recheck-root.ts'
import { listDirectory } from '../../../src/local/scan/list-directory.ts'
import type { ListedDirectory } from '../../../src/local/scan/stat-entry.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { faulty, memoryFileSystem, rootAt, systemError } from '../trees.ts'

const RULES = createRootScope({ ignore: [], include: [] })

const SCAN_RULES = { ignore: [], include: [], oneFileSystem: true, maxSizeBytes: null, emptyFiles: 'upload' } as const

interface Given extends Partial<ScanRules> {
  readonly fs?: FileSystem
  readonly at?: string
  /** That of the root, in place of its own. */
  readonly device?: bigint
}

function scan(root: string, { fs = nodeFileSystem, at = '', device, ...given }: Given = {}) {
  const place = rootAt(root)
  const rules = { ...SCAN_RULES, ...given }
  return listDirectory(fs, { ...place, device: device ?? place.device }, at, RULES, { rules })
}

function scanned(root: string, given: Parameters<typeof scan>[1] = {}): ListedDirectory {
  const result = scan(root, given)
  if (result.kind !== 'scanned') throw new Error(result.message)
  return result
}

const namesOf = (entries: Iterable<{ readonly name: string }>) => Array.from(entries, ({ name }) => name)
const skippedIn = (result: ListedDirectory) =>
  Object.fromEntries(result.skipped.map(({ name, reason }) => [name, reason]))

describe('a directory that can be read', () => {
  test('a scan finds files, directories and ignored entries', () => {
    const directory = temporaryDirectory({
      'b.md': 'b',
      'a.md': 'aa',
      'sub/x.md': 'x',
      '.env': 'S=1',
      'node_modules/m/i.js': '',
    })
    const result = scanned(directory)
    expect(namesOf(result.files)).toEqual(['a.md', 'b.md'])
    expect([...result.files][0]?.fingerprint.sizeBytes).toBe(2)
    expect(result.directories).toEqual(['sub'])
    expect(result.ignored.map(({ name, isDirectory, decision }) => [name, isDirectory, decision.secret])).toEqual([
      ['.env', false, true],
      ['node_modules', true, false],
    ])
    expect(result).toMatchObject({ incomplete: false, problems: [], skipped: [] })
  })

  test('a scan keeps every hostile name unchanged [F-FS-11]', () => {
    const directory = temporaryDirectory()
    const names = [
      'two\nlines',
      '\u001b[31mred',
      'right\u202eleft.txt',
      `"quoted"'`,
      'n'.repeat(255),
      'caf\u00e9',
      'cafe\u0301',
      ' ',
      '-rf',
      '*',
      'back\\slash',
      'Case',
      'case',
      '\u{1f600}',
      '\uff5e',
      'real\ufffdsign',
    ]
    for (const name of names) writeFileSync(join(directory, name), name)
    expect(namesOf(scanned(directory).files)).toEqual(names.toSorted())
  })

  test('a scan reports names that are not UTF-8 [F-FS-12]', () => {
    const directory = temporaryDirectory()
    const at = (latin1: string) => Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(latin1, 'latin1')])
    writeFileSync(at('caf\xe9.txt'), '1')
    mkdirSync(at('d\xff'))
    writeTree(directory, { 'caf\ufffd.txt': '2', 'plain.txt': '3' })
    const result = scanned(directory)
    expect(namesOf(result.files)).toEqual(['caf\ufffd.txt', 'plain.txt'])
    expect(skippedIn(result)).toEqual({ 'caf\\xE9.txt': 'name-not-utf8', 'd\\xFF': 'name-not-utf8' })
  })

  test('a scan skips links, loops, pipes, sockets, devices [F-FS-07, F-FS-08]', async () => {
    const directory = temporaryDirectory()
    symlinkSync('.', join(directory, 'loop'))
    symlinkSync('nowhere', join(directory, 'dangling'))
    spawnSync('mkfifo', [join(directory, 'pipe')])
    spawnSync('mknod', [join(directory, 'null'), 'c', '1', '3'])
    const server = createServer()
    await new Promise<void>((listening) => server.listen(join(directory, 'socket'), listening))
    const { null: device = 'device', ...others } = skippedIn(scanned(directory))
    server.close()
    expect(others).toEqual({ loop: 'symlink', dangling: 'symlink', pipe: 'pipe', socket: 'socket' })
    expect(device).toBe('device')
  })

  test('a scan skips empty and large files if configured [F-FS-15]', () => {
    const directory = temporaryDirectory({ empty: '', ten: '0123456789' })
    expect(namesOf(scanned(directory).files)).toEqual(['empty', 'ten'])
    const result = scanned(directory, { maxSizeBytes: 9, emptyFiles: 'skip' })
    expect(skippedIn(result)).toEqual({ empty: 'empty', ten: 'too-large' })
    expect(result.skipped[1]?.detail).toBe('10 B, the limit is 9 B')
  })

  test('a scan stays on one file system if configured [F-FS-09]', () => {
    const directory = temporaryDirectory({ 'sub/': '' })
    expect(scanned(directory, { device: -1n }).skipped).toEqual([{ name: 'sub', reason: 'other-file-system' }])
    expect(scanned(directory, { device: -1n, oneFileSystem: false }).directories).toEqual(['sub'])
  })

  test('a scan works on an in-memory file system', () => {
    const fs = memoryFileSystem({ '/m/a.md': 'a', '/m/.shelfdignore': '*.log', '/m/x.log': '', '/m/sub/b': '' })
    const root = inspectRoot(fs, '/m')
    const result = listDirectory(fs, root, '', RULES, { rules: SCAN_RULES })
    if (result.kind !== 'scanned') throw new Error(result.message)
    expect(namesOf(result.files)).toEqual(['a.md'])
    expect(namesOf(result.ignored)).toEqual(['.shelfdignore', 'x.log'])
  })
})

describe('a .shelfdignore file', () => {
  test('an ignore file holds for its directory and below', () => {
    const directory = temporaryDirectory({
      'a/.shelfdignore': '*.log\n',
      'a/x.log': '',
      'a/deep/y.log': '',
      'a/deep/z.md': '',
    })
    const above = scanned(directory, { at: 'a' })
    expect(above.ignored.find(({ name }) => name === 'x.log')?.decision.source).toBe('a/.shelfdignore')
    expect(above.scope.decide('a/deep/y.log', false)?.line).toBe(1)
  })

  test('an ignore file that vanished hides its directory', () => {
    const directory = temporaryDirectory({ '.shelfdignore': '*.md', 'secret.md': '' })
    const fs = faulty({
      openSync: (path, flags) => {
        if (path.endsWith('/.shelfdignore')) throw systemError('ENOENT')
        return nodeFileSystem.openSync(path, flags)
      },
    })
    expect(scan(directory, { fs })).toMatchObject({ kind: 'unreadable', code: 'vanished' })
  })

  test.each([
    ['Latin-1', Buffer.from('B\u00fcro/\r\n', 'latin1')],
    ['UTF-16 without its mark', Buffer.from('B\u00fcro/\r\n', 'utf16le')],
  ])('an ignore file in %s hides its directory, and says how to save it [F-FS-30]', (_, bytes) => {
    const directory = temporaryDirectory({ '.shelfdignore': bytes, 'B\u00fcro/salary.md': '' })
    const message = expect.stringMatching(/"\.shelfdignore".*save it as UTF-8/)
    expect(scan(directory)).toMatchObject({ kind: 'unreadable', code: 'unsupported', message })
  })

  test('an ignore file in UTF-16 with its mark is read [F-FS-30]', () => {
    const rules = Buffer.from('\ufeffB\u00fcro/\r\n', 'utf16le')
    const directory = temporaryDirectory({ '.shelfdignore': rules, 'B\u00fcro/salary.md': '', 'a.md': '' })
    expect(namesOf(scanned(directory).ignored)).toEqual(['.shelfdignore', 'B\u00fcro'])
  })

  test('a missing ignore file is no problem', () => {
    const directory = temporaryDirectory()
    expect(readIgnoreFile(nodeFileSystem, rootAt(directory), 'no/such', '.shelfdignore')).toBeUndefined()
  })

  test.each(['a link', 'a directory', 'a pipe', 'too large'])(
    'an ignore file that is %s hides its directory',
    (kind) => {
      const directory = temporaryDirectory()
      const path = join(directory, '.shelfdignore')
      writeTree(directory, { 'secret.md': '', rules: '*.md' })
      if (kind === 'a link') symlinkSync('rules', path)
      else if (kind === 'a directory') mkdirSync(path)
      else if (kind === 'a pipe') spawnSync('mkfifo', [path])
      else writeFileSync(path, Buffer.alloc(2 ** 20 + 1, '\n'))
      expect(scan(directory)).toMatchObject({
        kind: 'unreadable',
        message: expect.stringContaining('.shelfdignore'),
      })
    },
  )
})

describe('a directory that cannot be read', () => {
  test.each(['EACCES', 'EIO', 'ENOENT', 'ENOTDIR', 'EMFILE'])(
    'a directory is never taken for empty after %s [P11, F-FS-04, F-FS-06]',
    (code) => {
      const fs = faulty({
        readdirSync: () => {
          throw systemError(code)
        },
      })
      const directory = temporaryDirectory()
      expect(scan(directory, { fs })).toMatchObject({ kind: 'unreadable', code })
    },
  )

  test('an entry that cannot be read is a problem [F-FS-05]', () => {
    const directory = temporaryDirectory({ 'bad.md': 'x', 'good.md': 'y' })
    const result = scanned(directory, { fs: failingAt('bad.md', 'EIO') })
    expect(namesOf(result.files)).toEqual(['good.md'])
    expect(result.problems).toMatchObject([{ name: 'bad.md', code: 'EIO' }])
    expect(result.incomplete).toBe(true)
  })

  test('a file that just vanished is left out [F-FS-02]', () => {
    const directory = temporaryDirectory({ 'gone.md': 'x', 'here.md': 'y' })
    const fs = justBefore('gone.md', () => rmSync(join(directory, 'gone.md')))
    const result = scanned(directory, { fs })
    expect(namesOf(result.files)).toEqual(['here.md'])
    expect(result.incomplete).toBe(false)
  })

  test('a file that vanished and returned makes a scan incomplete [F-FS-02]', () => {
    const directory = temporaryDirectory({ 'back.md': 'x' })
    expect(scanned(directory, { fs: failingAt('back.md', 'ENOENT') }).incomplete).toBe(true)
  })

  test('a directory moved away meanwhile is unreadable [F-FS-25]', () => {
    const directory = temporaryDirectory({ 'sub/a.md': 'x', 'sub/b.md': 'y' })
    const fs = justBefore('a.md', () => renameSync(join(directory, 'sub'), join(directory, 'other')))
    expect(scan(directory, { fs, at: 'sub' })).toMatchObject({ kind: 'unreadable', code: 'ENOENT' })
  })

  test('a directory replaced meanwhile is unreadable or incomplete [F-FS-25]', () => {
    const directory = temporaryDirectory({ 'sub/a.md': 'x', 'new/c.md': 'y' })
    const fs = justBefore('a.md', () => {
      renameSync(join(directory, 'sub'), join(directory, 'old'))
      renameSync(join(directory, 'new'), join(directory, 'sub'))
    })
    expect(scanned(directory, { fs, at: 'sub' }).incomplete).toBe(true)
  })

  test('a directory is not the empty target of a link', () => {
    const directory = temporaryDirectory({ 'empty/': '' })
    symlinkSync('empty', join(directory, 'sub'))
    expect(scan(directory, { at: 'sub' })).toMatchObject({ kind: 'unreadable' })
    expect(scan(directory, { at: 'empty' })).toMatchObject({
      kind: 'scanned',
      files: { length: 0 },
      incomplete: false,
    })
  })

  test('an unreadable directory has a readable message', () => {
    const directory = temporaryDirectory()
    chmodSync(directory, 0o700)
    const result = scan(directory, { at: 'no\nsuch' })
    expect(result).toEqual({ kind: 'unreadable', code: 'ENOENT', message: 'Cannot read "no\\nsuch": it is gone' })
  })
})

/** Calls `act` just before the first lstat of the named entry. */
function justBefore(name: string, act: () => void): FileSystem {
  let isDone = false
  return faulty({
    lstatSync: (path, options) => {
      if (path.endsWith(`/${name}`) && !isDone) {
        isDone = true
        act()
      }
      return nodeFileSystem.lstatSync(path, options)
    },
  })
}

function failingAt(name: string, code: string): FileSystem {
  return faulty({
    lstatSync: (path, options) => {
      if (path.endsWith(`/${name}`)) throw systemError(code)
      return nodeFileSystem.lstatSync(path, options)
    },
  })
}
