/** Files that change between their scan and the end of their upload: their bytes are never sent as something else, and nothing is lost (P10). */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import type { Home } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needs } from '../support/needs.ts'

function overwrite(path: string, position: number, bytes = 'CHANGED!'): void {
  const descriptor = openSync(path, 'r+')
  writeSync(descriptor, bytes, position)
  closeSync(descriptor)
}

/** What a program may do to a file that another one is about to send; it is a file with other bytes afterwards. */
const CHANGES: Readonly<Record<string, (path: string) => void>> = {
  'is truncated': (path) => truncateSync(path, 10),
  grows: (path) => appendFileSync(path, 'more'),
  'is overwritten at its start': (path) => overwrite(path, 0),
  'is overwritten at its end': (path) => overwrite(path, statSync(path).size - 8),
  'is overwritten and has its time set back': (path) => {
    const { atime, mtime } = statSync(path)
    overwrite(path, 3)
    utimesSync(path, atime, mtime)
  },
  'is replaced by another file': (path) => {
    writeFileSync(`${path}.new`, 'another file')
    renameSync(`${path}.new`, path)
  },
  ...(process.platform === 'linux' && {
    'gets a hole': (path: string) => {
      needs('fallocate')
      execFileSync('fallocate', ['-p', '-o', '0', '-l', '4096', path])
    },
  }),
}

/** After these there is no file any more. */
const REMOVALS: Readonly<Record<string, (path: string) => void>> = {
  vanishes: (path) => rmSync(path),
  'becomes a link': (path) => {
    renameSync(path, join(path, '../../elsewhere'))
    symlinkSync(join(path, '../../elsewhere'), path)
  },
  'becomes a directory': (path) => {
    rmSync(path)
    mkdirSync(path)
  },
  'becomes a pipe': (path) => {
    rmSync(path)
    execFileSync('mkfifo', [path])
  },
}

/** Small files are read at once, large ones in parts. */
const SIZES = { small: 100_000, large: 3_000_000 }

/** A directory of two files, of which `b.bin` is changed when the first upload begins; uploads go one after the other. */
async function prepare(sizeBytes: number, change: (path: string, upload: number) => void) {
  const { service, home, root } = await homeOnService({ 'a.bin': 'first', 'b.bin': 'x'.repeat(sizeBytes) })
  const limits = { transfers: 1 }
  configure(home, { limits, mirrors: [{ name: 'papers', path: root, library: 'Research', settle: '50ms' }] })
  service.onUploadBegun = (nth) => change(join(root, 'b.bin'), nth)
  return { service, home, path: join(root, 'b.bin') }
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** The contents that the service really has. */
function hashesIn({ dataDir }: { readonly dataDir: string }): string[] {
  return readLibrary(dataDir).map(({ sha256 }) => sha256)
}

/** The offline report's row of `b.bin`. */
async function reported(home: Home): Promise<{ class: string; reason: string | null } | undefined> {
  return (await home.json(['report', '--offline'])).mirrors[0].entries.find(
    ({ path }: { path: string }) => path === 'b.bin',
  )
}

const SIZE_NAMES = ['small', 'large'] as const

function casesOf(changes: typeof CHANGES) {
  return SIZE_NAMES.flatMap((size) => Object.keys(changes).map((name) => [size, name] as const))
}

test.each(casesOf(CHANGES))(
  'a %s file that %s before its upload is read again and sent [F-FS-01]',
  async (size, name) => {
    const { service, home, path } = await prepare(SIZES[size], (file, upload) => {
      if (upload === 1) CHANGES[name]?.(file)
    })
    const { exitCode, mirror } = await home.sync(['papers'])
    expect({ exitCode, problems: mirror.problems }).toEqual({ exitCode: 0, problems: [] })
    expect(mirror.uploads).toMatchObject({ created: 2, waiting: 0 })
    expect(mirror.files).toMatchObject({ scanned: 2, new: 2 })
    expect(hashesIn(service)).toContain(sha256Of(path))
    expect(hashesIn(service)).toHaveLength(2)
  },
)

test.each(casesOf(REMOVALS))('a %s file that %s before its upload is named [F-FS-02]', async (size, name) => {
  const { service, home } = await prepare(SIZES[size], (file, upload) => {
    if (upload === 1) REMOVALS[name]?.(file)
  })
  const { exitCode, mirror } = await home.sync(['papers'])
  expect(mirror.problems).toMatchObject([{ path: 'b.bin', code: 'vanished' }])
  expect({ exitCode, ...mirror.uploads }).toMatchObject({ exitCode: 1, created: 1, waiting: 1 })
  expect(hashesIn(service)).toHaveLength(1)
  expect(await reported(home)).toMatchObject({ class: 'local-only', reason: expect.stringMatching('removed or repl') })
  const next = await home.sync(['papers'])
  expect(next.mirror).toMatchObject({ files: { removed: 1 }, uploads: { waiting: 0 } })
  expect(next.mirror.problems.filter(({ code }) => code === 'vanished')).toEqual([])
})

test('a file that changes again while it is sent is named and waits for the next run [F-FS-01]', async () => {
  const { service, home, path } = await prepare(SIZES.large, (file) => appendFileSync(file, 'more'))
  const first = await home.sync(['papers'])
  expect(first.exitCode).toBe(1)
  expect(first.mirror.problems).toMatchObject([{ path: 'b.bin', code: 'busy' }])
  expect(first.mirror.uploads).toMatchObject({ created: 1, waiting: 1 })
  expect(await reported(home)).toMatchObject({
    class: 'local-only',
    reason: expect.stringMatching('changed while it was'),
  })
  expect((await home.shelfd(['status'])).stdout).toMatch(/b\.bin: .*changed while it was read/)
  service.forget()
  const { stdout } = await home.shelfd(['sync', 'papers'])
  expect(stdout).toMatch(/! b\.bin: .*it changed while it was read \[busy\]/)
  expect(stdout).toMatch(/Done with 1 problem in .*; 1 file waits for the next run\.$/m)
  service.onUploadBegun = () => {}
  const next = await home.sync(['papers'])
  expect(next.exitCode).toBe(0)
  expect(hashesIn(service)).toContain(sha256Of(path))
  expect(hashesIn(service)).toHaveLength(2)
})

/** Returns what `status` says of the only mirror. */
async function statusOf(home: Home) {
  const [{ problems, files }] = (await home.json(['status'])).mirrors
  return { problems, toSend: files.toSend }
}

describe('a daemon', () => {
  /** A daemon's home, with a large file for each change, which gets it when the first upload begins. */
  async function prepareAll(changes: typeof CHANGES) {
    const { service, home } = await prepare(10, (_, upload) => {
      if (upload === 1) for (const [name, change] of Object.entries(changes)) change(pathOf(name))
    })
    const pathOf = (name: string) => join(home.path, 'Papers', `${name}.bin`)
    for (const name of Object.keys(changes)) writeFileSync(pathOf(name), name.padEnd(SIZES.large, 'x'))
    return { service, home, daemon: await startDaemon(home), paths: Object.keys(changes).map(pathOf) }
  }

  test('a daemon sends files by itself that change in any way before their uploads [F-FS-01]', async () => {
    const { service, home, daemon, paths } = await prepareAll(CHANGES)
    await daemon.until('the files are sent as they are now', () => {
      const sent = hashesIn(service)
      return paths.every((path) => sent.includes(sha256Of(path)))
    })
    await expect.poll(() => statusOf(home)).toEqual({ problems: [], toSend: 0 })
    expect(hashesIn(service)).toHaveLength(2 + paths.length)
  })

  test('a daemon forgets files by itself that go in any way before their uploads', async () => {
    const { service, home, daemon } = await prepareAll(REMOVALS)
    await daemon.until('the other files are sent', () => hashesIn(service).length === 2)
    await expect
      .poll(async () => {
        const { problems, toSend } = await statusOf(home)
        return { toSend, vanished: problems.filter(({ code }: { code: string }) => code === 'vanished') }
      })
      .toEqual({ toSend: 0, vanished: [] })
    expect(hashesIn(service)).toHaveLength(2)
  })
})
