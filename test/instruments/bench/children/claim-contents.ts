/** One host that claims and settles as fast as it can. Prepares, says that it is ready, begins when it is told, and sends what it measured. */
import { once } from 'node:events'
import type { ClientAddress } from '../bench-ledger.ts'
import { endsOf, LIBRARY, openHost, someContents } from './ledger-client.ts'

export interface ClaimWork {
  readonly address: ClientAddress
  /** The same contents for the same salt. */
  readonly salt: string
  readonly calls: number
  readonly contentsACall: number
  readonly newPerDay: number | null
  /** Settles what it has claimed as created. */
  readonly settles: boolean
}

export interface ClaimMeasure {
  /** Answers of each kind. */
  readonly answers: Readonly<Record<string, number>>
  readonly claimMs: readonly number[]
  readonly settleMs: readonly number[]
  readonly cpuSeconds: number
}

/** Unmeasured: a host that has a library to send runs compiled code. */
const FIRST_CALLS = 6

const { address, salt, calls, contentsACall, newPerDay, settles }: ClaimWork = JSON.parse(process.argv[2] ?? '{}')
const { ledger, session } = await openHost(salt, address)
let batch = 0n
const answers: Record<string, number> = {}
const claimMs: number[] = []
const settleMs: number[] = []

const first = callsOf(`${salt} first`, FIRST_CALLS)
const measured = callsOf(salt, calls)
for (const call of first) await claimAndSettle(call)
process.on('disconnect', () => process.exit())
process.send?.('ready')
await once(process, 'message')
for (const list of [claimMs, settleMs]) list.length = 0
for (const kind of Object.keys(answers)) delete answers[kind]
const before = process.cpuUsage()
for (const call of measured) await claimAndSettle(call)
const { user, system } = process.cpuUsage(before)
const measure: ClaimMeasure = { answers, claimMs, settleMs, cpuSeconds: (user + system) / 1e6 }
process.send?.(measure)
await ledger.close(session)
await ledger[Symbol.asyncDispose]()
process.disconnect()

/** Contents and their ends, made before anything is measured. */
function callsOf(words: string, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const contents = someContents(`${words} ${index}`, contentsACall)
    return { contents, ends: settles ? endsOf(session, contents) : [] }
  })
}

async function claimAndSettle({ contents, ends }: ReturnType<typeof callsOf>[number]): Promise<void> {
  const startMs = performance.now()
  const results = await ledger.claim(session, LIBRARY, contents, { newPerDay })
  const claimedMs = performance.now()
  claimMs.push(claimedMs - startMs)
  for (const { kind } of results) answers[kind] = (answers[kind] ?? 0) + 1
  if (!settles) return
  batch += 1n
  await ledger.settle(session, batch, ends)
  settleMs.push(performance.now() - claimedMs)
}
