/** `npm run contract`: whether a service conforms to the interface; see docs/service-contract.md. */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { z } from 'zod'
import { print, runInstrument } from '../instruments/instrument.ts'
import { OPTIONS } from './options.ts'
import { SENTENCES } from './sentences/all.ts'
import { askPatiently } from './suite/ask-patiently.ts'
import { Examination } from './suite/examination.ts'
import { HEADING, renderCounts, renderFinding, renderUnobservable } from './suite/render.ts'
import { type Finding, runSuite } from './suite/run-suite.ts'
import type { Target } from './suite/target.ts'

const PROCESSING_MS = 10 * 60_000

type ContractOptions = z.infer<typeof OPTIONS>

function readTarget({ url, library, patient, write, ...files }: ContractOptions): Target {
  const readToken = (file: string) => readFileSync(file, 'utf8').trim()
  const others = { reader: files.readerTokenFile, steward: files.stewardTokenFile, agent: files.agentTokenFile }
  const given = Object.entries(others).flatMap(([role, file]) => (file ? [[role, readToken(file)]] : []))
  return {
    url: new URL(url).origin,
    tokens: { ...Object.fromEntries(given), owner: readToken(files.tokenFile) },
    mayWrite: write,
    library,
    processingMs: PROCESSING_MS,
    wait: async (durationMs) => await wait(durationMs),
    fetch: (address, init) => askPatiently(() => fetch(address, init), wait),
    laterBy: patient ? async (minutes) => await wait(minutes * 60_000) : undefined,
  }
}

/** Prints the table; true when nothing failed. */
async function examine(options: ContractOptions): Promise<boolean> {
  const examination = new Examination(readTarget(options))
  const findings: Finding[] = []
  print(HEADING)
  try {
    for await (const finding of runSuite(SENTENCES, examination)) {
      findings.push(finding)
      print(renderFinding(finding))
    }
  } finally {
    for (const left of await examination.cleanUp()) print(`Left behind: ${left}`)
  }
  print(`\n${renderUnobservable(SENTENCES)}\n\n${renderCounts(findings, SENTENCES)}`)
  return findings.every(({ result }) => result !== 'failed')
}

await runInstrument('contract', OPTIONS, examine)
