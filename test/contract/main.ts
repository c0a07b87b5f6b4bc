/** `npm run contract`: whether a service conforms to the interface; see docs/service-contract.md. */
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '../../src/foundation/errors.ts'
import { type ContractOptions, readOptions, USAGE } from './options.ts'
import { SENTENCES } from './sentences/all.ts'
import { askPatiently } from './suite/ask-patiently.ts'
import { Examination } from './suite/examination.ts'
import { HEADING, renderCounts, renderFinding, renderUnobservable } from './suite/render.ts'
import { type Finding, runSuite } from './suite/run-suite.ts'
import type { Target } from './suite/target.ts'

const PROCESSING_MS = 10 * 60_000

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function readTarget({ url, tokenFiles, mayWrite, library, isPatient }: ContractOptions): Target {
  const readToken = (file: string) => readFileSync(file, 'utf8').trim()
  const tokens = Object.fromEntries(Object.entries(tokenFiles).map(([role, file]) => [role, readToken(file)]))
  return {
    url,
    tokens: { ...tokens, owner: readToken(tokenFiles.owner) },
    mayWrite,
    library,
    processingMs: PROCESSING_MS,
    wait: async (durationMs) => await wait(durationMs),
    fetch: (address, init) => askPatiently(() => fetch(address, init), wait),
    laterBy: isPatient ? async (minutes) => await wait(minutes * 60_000) : undefined,
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

try {
  const options = readOptions(process.argv.slice(2))
  process.exitCode = (await examine(options)) ? 0 : 1
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n\n${USAGE}`)
  process.exitCode = 2
}
