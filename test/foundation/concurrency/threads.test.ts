import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, globSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { endThread, startThread } from '../../../src/foundation/concurrency/threads.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const THREADS = new URL('../../../src/foundation/concurrency/threads.ts', import.meta.url)
const SRC = join(import.meta.dirname, '../../../src')

/** Cells that a test and its thread share. */
const BEGAN = 0
const MAY_LOAD = 1
const HAS_LOADED = 2
const HAS_STOPPED = 3

/** An entry that loads only when it may, as one whose native modules come from a slow disk, and then does `work` for each message. */
function entryThat(work: string): URL {
  const source = `
    import { isAskedToEnd, serveThread, threadData } from '${THREADS}'
    import { openSync } from 'node:fs'
    const { cells, file } = threadData
    const set = (cell) => { Atomics.store(cells, cell, 1); Atomics.notify(cells, cell) }
    set(${BEGAN})
    Atomics.wait(cells, ${MAY_LOAD}, 0)
    set(${HAS_LOADED})
    serveThread(() => { ${work} }, () => set(${HAS_STOPPED}))`
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`)
}

function startTested(work = '', file = ''): { worker: Worker; cells: Int32Array; exited: Promise<unknown[]> } {
  const cells = new Int32Array(new SharedArrayBuffer(16))
  const worker = startThread(entryThat(work), { name: 'tested', data: { cells, file } })
  return { worker, cells, exited: once(worker, 'exit') }
}

function load(cells: Int32Array): void {
  Atomics.store(cells, MAY_LOAD, 1)
  Atomics.notify(cells, MAY_LOAD)
}

test('a thread is not terminated while it loads its modules, however soon it is to end [F-PR-19]', async () => {
  const { worker, cells } = startTested()
  await Atomics.waitAsync(cells, BEGAN, 0).value
  const ended = endThread(worker, 0)
  expect(worker.threadId).toBeGreaterThan(0)
  // Longer than terminating takes.
  setTimeout(() => load(cells), 200)
  await ended
  expect(cells[HAS_LOADED]).toBe(1)
  expect(worker.threadId).toBe(-1)
})

test('a thread that is asked to end in the middle of its work ends in order [F-PR-19]', async () => {
  const { worker, cells, exited } = startTested('while (!isAskedToEnd()) set(0)')
  load(cells)
  worker.postMessage('work')
  await endThread(worker, 60_000)
  expect(await exited).toEqual([0])
  expect(cells[HAS_STOPPED]).toBe(1)
})

test('a thread that does not end when it is asked is terminated after its time', async () => {
  const { worker, cells, exited } = startTested('for (;;) set(0)')
  load(cells)
  worker.postMessage('work')
  await Atomics.waitAsync(cells, HAS_LOADED, 0).value
  await endThread(worker, 50)
  expect(await exited).toEqual([1])
})

test.runIf(process.platform === 'linux')(
  'a thread that hangs in a call of the system does not hold up who ends it [F-PR-19]',
  async () => {
    const pipe = join(temporaryDirectory(), 'pipe')
    execFileSync('mkfifo', [pipe])
    const { worker, cells, exited } = startTested("set(0); openSync(file, 'r')", pipe)
    load(cells)
    worker.postMessage('work')
    await Atomics.waitAsync(cells, HAS_LOADED, 0).value
    await endThread(worker, 50)
    expect(worker.threadId).toBeGreaterThan(0)
    closeSync(openSync(pipe, 'w'))
    await exited
  },
)

test('a process that exits while a thread loads its modules lets it load them first [F-PR-19]', () => {
  const entry = `
    import { writeSync } from 'node:fs'
    import { serveThread } from '${THREADS}'
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    writeSync(1, 'loaded')
    serveThread(() => {})`
  const program = `
    import { startThread } from '${THREADS}'
    startThread(new URL('data:text/javascript,${encodeURIComponent(entry).replaceAll("'", '%27')}'), { name: 'tested' })
    process.exit(7)`
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({ status: 7, stdout: 'loaded' })
})

test('threads are started and terminated in one place only', () => {
  const others = globSync('**/*.ts', { cwd: SRC }).filter((file) =>
    /\bnew Worker\(|worker\??\.terminate\(/i.test(readFileSync(join(SRC, file), 'utf8')),
  )
  // Tesseract has a worker of its own kind, which loads nothing native.
  expect(others.sort()).toEqual(['embedded/ingest/readers/ocr.ts', 'foundation/concurrency/threads.ts'])
})
