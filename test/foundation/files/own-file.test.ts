import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { readOwnFile } from '../../../src/foundation/files/own-file.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const COMES_AND_GOES = `
  const { renameSync, rmSync, writeFileSync } = require('node:fs')
  const { parentPort, workerData: file } = require('node:worker_threads')
  parentPort.postMessage('begun')
  for (;;) {
    writeFileSync(file + '.new', 'text')
    renameSync(file + '.new', file)
    rmSync(file)
  }
`

test('a file that others remove meanwhile is read whole or not at all', async () => {
  const file = join(temporaryDirectory(), 'holder')
  const other = new Worker(COMES_AND_GOES, { eval: true, workerData: file })
  onTestFinished(async () => void (await other.terminate()))
  await new Promise((resolve) => other.once('message', resolve))
  const found = new Set<string | undefined>()
  for (let read = 0; read < 100_000 && !(read > 20_000 && found.size === 2); read += 1)
    found.add(readOwnFile(file, 100))
  expect(found).toEqual(new Set([undefined, 'text']))
})
