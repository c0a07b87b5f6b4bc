/**
 * Serves an embedded library for the fuzzer, in the directory that its argument names. Answers `settle` when all is ingested, with the
 * longest time that its thread computed without answering anyone.
 */
import { startEmbeddedLibrary } from '../../../src/embedded/start-embedded.ts'

const [, , dataDir = ''] = process.argv
// Shorter than outside, so that requests whose body never ends are answered soon.
const requests = { bodyIdleMs: 10_000, headersMs: 10_000 }
const library = await startEmbeddedLibrary({ dataDir, requests })
let [busyMs, longestBusyMs] = [threadMs(), 0]
// By processor time, because other programs delay a timer too.
setInterval(() => {
  const nowMs = threadMs()
  longestBusyMs = Math.max(longestBusyMs, nowMs - busyMs)
  busyMs = nowMs
}, 1)
process.on('message', async () => {
  await library.settled()
  process.send?.({ kind: 'settled', longestBusyMs })
})
process.on('disconnect', () => process.exit())
process.send?.({ kind: 'ready', url: library.url, token: library.token })

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
