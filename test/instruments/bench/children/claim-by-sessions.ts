/** Many hosts in one process, each of which claims and settles a few contents every now and then. Prints what it measured. */
import { setTimeout as sleep } from 'node:timers/promises'
import { MAX_IN_A_CALL } from '../../../../src/ledger/ledger.ts'
import type { ClientAddress } from '../bench-ledger.ts'
import { endsOf, LIBRARY, type OpenHost, openHost, someContents } from './ledger-client.ts'

export interface SessionsWork {
  readonly address: ClientAddress
  readonly sessions: number
  readonly contentsACall: number
  /** Between two calls of a session. */
  readonly everyMs: number
  readonly callsEach: number
}

export interface SessionsMeasure {
  readonly claimMs: readonly number[]
  readonly settleMs: readonly number[]
  readonly renewMs: readonly number[]
  readonly seconds: number
  readonly contents: number
}

const OPENED_AT_ONCE = 50

const work: SessionsWork = JSON.parse(process.argv[2] ?? '{}')
const claimMs: number[] = []
const settleMs: number[] = []
const renewMs: number[] = []
const hosts: OpenHost[] = []
while (hosts.length < work.sessions) {
  const next = Array.from({ length: Math.min(OPENED_AT_ONCE, work.sessions - hosts.length) }, (_, index) =>
    openHost(`host-${hosts.length + index}`, work.address),
  )
  hosts.push(...(await Promise.all(next)))
}
// Both connections of each host are open before anything is measured.
for (let start = 0; start < hosts.length; start += OPENED_AT_ONCE) {
  await Promise.all(hosts.slice(start, start + OPENED_AT_ONCE).map(({ ledger, session }) => ledger.renew(session)))
}
const startMs = performance.now()
const counts = await Promise.all(hosts.map(live))
const measure: SessionsMeasure = {
  ...{ claimMs, settleMs, renewMs },
  seconds: (performance.now() - startMs) / 1_000,
  contents: counts.reduce((sum, count) => sum + count, 0),
}
process.stdout.write(JSON.stringify(measure))
await Promise.all(hosts.map(({ ledger }) => ledger[Symbol.asyncDispose]()))

/** Calls at its own moments, whatever a call takes. Returns how many contents it claimed. */
async function live({ ledger, session }: OpenHost, index: number): Promise<number> {
  const offsetMs = (index / work.sessions) * work.everyMs
  let claimed = 0
  for (let call = 0; call < work.callsEach; call += 1) {
    await sleep(Math.max(0, startMs + offsetMs + call * work.everyMs - performance.now()))
    const contents = someContents(`session ${index} ${call}`, Math.min(work.contentsACall, MAX_IN_A_CALL))
    await timed(claimMs, () => ledger.claim(session, LIBRARY, contents, { newPerDay: null }))
    await timed(settleMs, () => ledger.settle(session, BigInt(call + 1), endsOf(session, contents)))
    if (call % 3 === 0) await timed(renewMs, () => ledger.renew(session))
    claimed += contents.length
  }
  return claimed
}

async function timed(times: number[], call: () => Promise<unknown>): Promise<void> {
  const beganMs = performance.now()
  await call()
  times.push(performance.now() - beganMs)
}
