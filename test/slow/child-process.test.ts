import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EmbeddedOptions } from '../../src/embedded/start-embedded.ts'
import { systemClock } from '../../src/foundation/clock.ts'
import { type Logger, silentLogger } from '../../src/foundation/logger.ts'
import { pluck, type SentFile } from '../contract/service-client.ts'
import { startLibrary, temporaryDirectory } from '../embedded/temporary-library.ts'
import { manualClock } from '../support/manual-clock.ts'
import { isRunning, readerProcesses } from '../support/reader-processes.ts'

const HTML = 'text/html'
const page = (name: string, words: string): SentFile => ({ name, type: HTML, content: `<p>${words}</p>` })
const OLD_DOCUMENT = readFileSync(join(import.meta.dirname, '..', 'embedded', 'ingest', 'samples', 'old.doc'))
/** Rows that a table's parser turns into some hundred bytes each. */
const MANY_ROWS: SentFile = { name: 'rows.csv', type: 'text/csv', content: `a,b\n${'ab,\n'.repeat(250_000)}` }

/** A library whose child process has started and is idle. */
async function withReader(options: Partial<EmbeddedOptions> = {}) {
  const started = await startLibrary({ ...options, extraction: { idleMs: 600_000, ...options.extraction } })
  const { client } = started
  const id = await client.createLibrary()
  await client.processed(id, await client.uploaded(id, page('first.html', 'first')))
  const [pid = 0] = readerProcesses()
  const show = async (resource: string) => (await client.get(`/libraries/${id}/resources/${resource}`)).json
  const until = async (resource: string, status: string) => {
    while ((await show(resource)).ingestion_status !== status);
  }
  const found = async (word: string) =>
    pluck((await client.get(`/search/resources?query=${word}`)).json.results, 'resource')
  return { ...started, id, pid, show, until, found, signal: (name: NodeJS.Signals) => process.kill(pid, name) }
}

/** TCP ports of IPv4 on which a process accepts connections. */
function listeningPorts(pid: number): number[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  const sockets = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').split('\n').slice(1)
  return sockets
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && open.includes(`socket:[${inode}]`))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16))
}

describe.runIf(process.platform === 'linux')('the extraction process', () => {
  it('a stopped extraction process never blocks requests or plain text [F-PR-14, S-17]', async () => {
    const { client, id, show, until, found, signal } = await withReader()
    signal('SIGSTOP')
    const stuck = await client.uploaded(id, page('stuck.html', 'stuck'))
    await until(stuck, 'running')
    const plain = await client.uploaded(id, { name: 'plain.txt', content: 'zebra' })
    await until(plain, 'completed')
    for (let count = 0; count < 50; count += 1) expect(await found('zebra')).toHaveLength(1)
    expect(await show(stuck)).toMatchObject({ ingestion_status: 'running' })
    signal('SIGCONT')
    expect(await client.processed(id, stuck)).toMatchObject({ ingestion_status: 'completed' })
  })

  it('documents are read again after their process was killed', async () => {
    const { client, id, pid, until, signal } = await withReader()
    signal('SIGSTOP')
    const ids: string[] = []
    for (const word of ['one', 'two', 'three']) ids.push(await client.uploaded(id, page(`${word}.html`, word)))
    await until(ids[0] ?? '', 'running')
    signal('SIGKILL')
    for (const resource of ids) {
      expect(await client.processed(id, resource)).toMatchObject({
        ingestion_status: 'completed',
        ingestion_error: null,
      })
    }
    expect(readerProcesses()).toEqual([expect.not.toBeOneOf([pid])])
  })

  it('SIGUSR1 opens no debugger in an extraction process [S-26]', async () => {
    const { client, id, pid, signal } = await withReader()
    signal('SIGUSR1')
    await client.processed(id, await client.uploaded(id, page('next.html', 'next')))
    expect([readerProcesses(), listeningPorts(pid)]).toEqual([[pid], []])
  })

  it('a document that ends its process twice fails, and only that one [S-17]', async () => {
    const { client, id, until, signal } = await withReader({ extraction: { heapMiB: 24 } })
    signal('SIGSTOP')
    await until(await client.uploaded(id, page('first.html', 'begun')), 'running')
    const bad = await client.uploaded(id, MANY_ROWS)
    const good = await client.uploaded(id, page('good.html', 'zebra'))
    signal('SIGCONT')
    expect(await client.processed(id, bad)).toMatchObject({
      ingestion_status: 'failed',
      ingestion_error: expect.stringContaining('memory'),
      assets: [],
    })
    expect(await client.processed(id, good)).toMatchObject({ ingestion_status: 'completed' })
  })

  it('an extraction process that takes too much memory is ended [P21, S-17]', async () => {
    const { client, id } = await withReader({ extraction: { memoryMiB: 20 } })
    const large = await client.uploaded(id, { name: 'large.html', type: HTML, content: '<b>'.repeat(10_000_000) })
    expect(await client.processed(id, large)).toMatchObject({
      ingestion_status: 'failed',
      ingestion_error: expect.stringContaining('memory'),
    })
  })

  it('an extraction process is ended when a document exceeds its time [F-PR-14, S-17]', async () => {
    const manual = manualClock()
    // Sleeps below a second are real.
    const sleep: typeof manual.sleep = (ms, signal) => (ms < 1_000 ? systemClock : manual).sleep(ms, signal)
    const { client, id, show, signal } = await withReader({ clock: { ...manual, sleep } })
    signal('SIGSTOP')
    const stuck = await client.uploaded(id, page('stuck.html', 'stuck'))
    while ((await show(stuck)).ingestion_status !== 'failed') await manual.advance(1_000)
    expect(await show(stuck)).toMatchObject({ ingestion_error: 'Its text was not extracted within 60 s' })
    const good = await client.uploaded(id, page('good.html', 'zebra'))
    expect(await client.processed(id, good)).toMatchObject({ ingestion_status: 'completed' })
  })

  it('a machine that cannot start the extraction process fails no document: they are read once it can', async () => {
    const manual = manualClock()
    const sleep: typeof manual.sleep = (ms, signal) => (ms < 1_000 ? systemClock : manual).sleep(ms, signal)
    const errors: unknown[] = []
    const logger: Logger = { ...silentLogger, error: (_, fields) => errors.push(fields) }
    const { client } = await startLibrary({ clock: { ...manual, sleep }, logger })
    const id = await client.createLibrary()
    const { execPath } = process
    process.execPath = join(temporaryDirectory(), 'gone')
    onTestFinished(() => {
      process.execPath = execPath
    })
    const resource = await client.uploaded(id, page('page.html', 'zebra'))
    const error = expect.stringContaining('Cannot start the process that reads documents')
    await expect.poll(() => errors).toEqual([{ error }])
    process.execPath = execPath
    // No further: the time that a process has to start is of this clock, too.
    await manual.advance(5_000)
    expect(await client.processed(id, resource)).toMatchObject({ ingestion_status: 'completed' })
  })

  it('an idle extraction process is ended', async () => {
    await withReader({ extraction: { idleMs: 1 } })
    while (readerProcesses().length > 0) await systemClock.sleep(1)
  })

  it('an extraction process is ended with the service', async () => {
    const { stop, client, id, until, signal } = await withReader()
    signal('SIGSTOP')
    await until(await client.uploaded(id, page('stuck.html', 'stuck')), 'running')
    await stop()
    expect(readerProcesses()).toEqual([])
  })

  it('the programs of an extraction process end with it, and what these started [F-PR-21]', async () => {
    const directory = temporaryDirectory()
    const script = `#!/bin/sh\ntrap '' TERM; sleep 600 & echo $$ $! >> '${directory}/pids'; while :; do wait; done\n`
    writeFileSync(join(directory, 'catdoc'), script, { mode: 0o755 })
    vi.stubEnv('PATH', `${directory}:${process.env.PATH}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { stop, client, id } = await withReader()
    const begun = () => (existsSync(join(directory, 'pids')) ? readFileSync(join(directory, 'pids'), 'utf8') : '')
    const pids = () => begun().match(/\d+/g) ?? []
    await client.uploaded(id, { name: 'old.doc', type: 'application/msword', content: OLD_DOCUMENT })
    await expect.poll(() => pids().length, { timeout: 30_000 }).toBe(2)
    for (const pid of readerProcesses()) process.kill(pid, 'SIGKILL')
    // It is read once more.
    await expect.poll(() => pids().length, { timeout: 30_000 }).toBe(4)
    await expect.poll(() => pids().slice(0, 2).filter(isRunning), { timeout: 30_000 }).toEqual([])
    await stop()
    await expect.poll(() => pids().filter(isRunning), { timeout: 30_000 }).toEqual([])
  })

  it('small plain text starts no extraction process', async () => {
    const { client } = await startLibrary()
    const id = await client.createLibrary()
    await client.processed(id, await client.uploaded(id, { name: 'a.txt', content: 'x'.repeat(64 * 1024) }))
    expect(readerProcesses()).toEqual([])
  })
})

it.each(['text/plain', HTML])('a too long document of the type %s ends as partial', async (type) => {
  const { client } = await startLibrary({ extraction: { maxPassages: 2 } })
  const id = await client.createLibrary()
  const lines = Array.from({ length: 1_000 }, (_, index) => `line${index}<br>`)
  const content = [...lines, 'zebra'].join('\n')
  const record = await client.processed(id, await client.uploaded(id, { name: 'a', type, content }))
  expect(record).toMatchObject({
    ingestion_status: 'partial',
    ingestion_error: 'Only the first 2 passages of the text are searchable',
  })
  expect(pluck(record.assets, 'trace')).toHaveLength(2)
  const search = async (word: string) =>
    pluck((await client.get(`/search/resources?query=${word}`)).json.results, 'resource')
  expect({ first: await search('line1'), last: await search('zebra') }).toEqual({
    first: [expect.anything()],
    last: [],
  })
})

describe('documents made to cost much', () => {
  it.each([0.9, 12])('a document of %s MB of nested elements becomes searchable [F-PR-14, S-17]', async (megabytes) => {
    const { client } = await startLibrary()
    const id = await client.createLibrary()
    const content = `${'<b>'.repeat(megabytes * 333_333)}zebra`
    const bomb = await client.uploaded(id, { name: 'bomb.html', type: HTML, content })
    const good = await client.uploaded(id, page('good.html', 'giraffe'))
    for (const [resource, text] of [
      [bomb, 'zebra'],
      [good, 'giraffe'],
    ] as const) {
      expect(await client.processed(id, resource)).toMatchObject({ ingestion_status: 'completed', abstract: text })
    }
  })

  it('a document with a line of 150 MB takes bounded memory [F-PR-14, S-17]', async () => {
    const { client, library } = await startLibrary()
    const id = await client.createLibrary()
    const blanks = new Uint8Array(1_000_000).fill(0x20)
    const pieces = function* () {
      yield Buffer.from('--B\r\nContent-Disposition: form-data; name="file"; filename="line.html"\r\n')
      yield Buffer.from('Content-Type: text/html\r\n\r\nfirst')
      for (let count = 0; count < 150; count += 1) yield blanks
      yield Buffer.from('last\r\n--B--')
    }
    const headers = { 'content-type': 'multipart/form-data; boundary=B' }
    const body = ReadableStream.from(pieces())
    const { json } = await client.send(`/libraries/${id}/files`, {
      method: 'POST',
      body,
      headers,
      duplex: 'half',
    } as RequestInit)
    const before = process.memoryUsage.rss()
    let most = 0
    const watching = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss() - before)
    }, 20)
    await library.settled()
    clearInterval(watching)
    expect(await client.processed(id, String(json.id))).toMatchObject({
      ingestion_status: 'completed',
      abstract: 'first last',
    })
    expect(most).toBeLessThan(200e6)
  })
})
