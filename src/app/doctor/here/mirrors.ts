import { ShelfdError } from '../../../foundation/errors.ts'
import { counted } from '../../../foundation/text/safe-text.ts'
import { nodeFileSystem } from '../../../local/read/file-system.ts'
import { inspectRoot } from '../../../local/read/inspect-root.ts'
import { type Finding, failed, ok } from '../../../rules/doctor/finding.ts'
import { assertSamePlace, assertSameRoot } from '../../../sync/pin/open-mirror.ts'
import { explainInactive, type RosterEntry } from '../../mirrors/mirror-roster.ts'
import type { Check } from '../check.ts'
import { findingOf } from '../finding-of.ts'
import { isToBeSynced, rosterOf } from '../roster.ts'

/** Whether each mirror's directory is there, readable, and the one that it was first used for. */
export const mirrors: Check = {
  name: 'mirrors',
  run: async (context) => {
    const roster = (await rosterOf(context)).filter(isToBeSynced)
    if (roster.length === 0)
      return [ok('none yet; "shelfd init" sets one up, "shelfd sync DIR" mirrors a directory at once')]
    const problems = roster.flatMap((entry) => problemOf(entry) ?? [])
    return problems.length > 0 ? problems : [ok(`${counted(roster.length, 'directory', 'directories')} can be read`)]
  },
}

function problemOf(entry: RosterEntry): Finding | undefined {
  const { path, row, configured } = entry
  if (entry.activity === 'other-service') {
    return failed(explainInactive(entry) ?? '', { code: 'origin-mismatch' })
  }
  try {
    const root = inspectRoot(nodeFileSystem, path)
    if (row) assertSameRoot(row, root)
    if (row && configured) assertSamePlace(row, configured)
    return undefined
  } catch (error) {
    if (!(error instanceof ShelfdError)) throw error
    return findingOf(error)
  }
}
