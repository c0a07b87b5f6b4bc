/** A disk that fails at one of the writes, flushes, creations, renames … of the state: each kind of them, early or late. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forEachConcurrently } from '../../src/foundation/concurrency/run-concurrently.ts'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { needs } from '../support/needs.ts'
import { compileStateFaults, type StateFault, stateFaultVariables } from '../support/state-faults.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const AT_ONCE = 2

/** A mirror of its own, in a home of its own, whose state lies on a disk that fails as `fault` describes. */
function openMirror(service: FaultyService, layer: string, name: string) {
  const home = temporaryHome(service)
  home.write(name, { [`${name} 1.md`]: `${name} 1`, 'in/it': `${name} 2`, [`in/${name} 3.md`]: `${name} 3` })
  const trace = join(home.path, 'trace')
  const args = ['sync', name, '--to', 'Research']
  const sync = async (fault?: StateFault) => {
    const around = { below: join(home.path, 'state'), trace, ...(fault && { fault }) }
    const outcome = await home.run(args, stateFaultVariables(layer, around))
    return { ...outcome, changes: existsSync(trace) ? readFileSync(trace, 'utf8').trimEnd().split('\n') : [] }
  }
  return { home, sync, syncSoundly: () => home.shelfd(args) }
}

/** Expects that the failing run succeeds or names the state, and that the next run succeeds. */
async function failAt(service: FaultyService, layer: string, name: string, fault: StateFault): Promise<void> {
  const { home, sync, syncSoundly } = openMirror(service, layer, name)
  const { exitCode, stderr } = await sync(fault)
  const isNamed = stderr.includes(`the store in "${home.stateDir}"`) && (exitCode === 5 || exitCode === 78)
  expect({ fault, stderr, exitCode, isReported: exitCode === 0 || isNamed }).toMatchObject({ isReported: true })
  const next = await syncSoundly()
  expect({ fault, ...next }).toMatchObject({ exitCode: 0 })
}

test.runIf(process.platform === 'linux')(
  'a failing disk is named, and the next sync succeeds [F-FS-27, F-PR-09]',
  async () => {
    needs('gcc')
    const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
    const layer = compileStateFaults(temporaryDirectory())
    const { changes } = await openMirror(service, layer, 'watched').sync()
    const kinds = [...new Set(changes)]
    expect(kinds.length).toBeGreaterThan(15)
    const faults = kinds.map((of, index): StateFault => {
      const last = changes.filter((change) => change === of).length
      return { harm: index % 3 === 0 ? 'enospc' : 'eio', of, at: index % 2 === 0 ? 1 : last, lasts: index % 4 < 2 }
    })
    await forEachConcurrently([...faults.entries()], AT_ONCE, ([index, fault]) => {
      return failAt(service, layer, `mirror${index}`, fault)
    })
    expect(readLibrary(service.dataDir)).toHaveLength((1 + faults.length) * 3)
  },
  120_000,
)
