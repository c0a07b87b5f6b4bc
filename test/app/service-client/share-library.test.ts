import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openService } from '../../../src/app/service-client/open-service.ts'
import { shareLibrary } from '../../../src/app/service-client/share-library.ts'
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'
import { LockedError } from '../../../src/foundation/errors.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { createRedactor } from '../../../src/foundation/text/redaction.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { readSettingsWith } from '../settings/read-settings-with.ts'

/** A library directory, and commands that open it as separate processes would. */
function someUsers() {
  const home = temporaryDirectory()
  const env = { XDG_STATE_HOME: `${home}/state`, XDG_DATA_HOME: `${home}/data` }
  const settings = readSettingsWith({ env })
  const around = { env, cwd: '/', home, logger: silentLogger, redactor: createRedactor() }
  const open = async () => {
    const service = await openService(settings, { ...around, signal: new AbortController().signal })
    onTestFinished(() => service[Symbol.asyncDispose]())
    return service
  }
  return { dataDir: settings.service.dataDir, open }
}

const signal = AbortSignal.timeout(60_000)

test('who uses the library of another process goes on when that process ends', async () => {
  const { dataDir, open } = someUsers()
  const first = await open()
  const others = [await open(), await open()]
  const url = () => JSON.parse(readFileSync(join(dataDir, 'holder'), 'utf8')).url
  const before = url()
  const [library] = await Array.fromAsync(others.map(({ client }) => client.checkAccess(signal)))
  await first[Symbol.asyncDispose]()
  const seen = await Promise.all(others.map(({ client }) => client.checkAccess(signal)))
  expect(seen).toEqual([library, library])
  expect(url()).not.toBe(before)
})

test('a command waits for a holder that is starting or ending', async () => {
  const { dataDir, open } = someUsers()
  const ending = await startEmbeddedLibrary({ dataDir })
  const [service] = await Promise.all([open(), ending[Symbol.asyncDispose]()])
  expect((await service.client.checkAccess(signal)).interfaces).toContain('api')
})

test('a library that is being started elsewhere is not started in vain', async () => {
  const { dataDir } = someUsers()
  const elsewhere = startEmbeddedLibrary({ dataDir })
  let starts = 0
  const start = async () => {
    starts += 1
    throw new LockedError('library-locked', 'held')
  }
  await using library = await shareLibrary({ dataDir }, start, signal)
  await using held = await elsewhere
  expect([library.url, starts]).toEqual([held.url, 1])
})

test('a program that takes the port of an ended holder receives no byte [S-03]', async () => {
  const { dataDir, open } = someUsers()
  const first = await open()
  const { client } = await open()
  await client.checkAccess(signal)
  const { url } = JSON.parse(readFileSync(join(dataDir, 'holder'), 'utf8'))
  await first[Symbol.asyncDispose]()
  const received: string[] = []
  const thief = createServer((socket) => socket.on('data', (bytes) => received.push(bytes.toString()))).listen(
    new URL(url).port,
  )
  await once(thief, 'listening')
  onTestFinished(() => void thief.close())
  expect((await client.checkAccess(signal)).interfaces).toContain('api')
  expect(received).toEqual([])
})
