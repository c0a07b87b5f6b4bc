/** The files in `service/` as they are, checked by the programs that read them. */
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXIT_CODES } from '../../../src/cli/exit-codes.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { exposureOf, SERVICE_FILES, verifyUnit } from '../../support/verify-unit.ts'

const UNITS = ['shelfd.service', 'shelfd-system.service']

describe('the units of systemd', () => {
  test.each(UNITS)('the unit %s holds nothing that systemd does not know', async (name) => {
    const file = join(temporaryDirectory(), 'shelfd.service')
    copyFileSync(join(SERVICE_FILES, name), file)
    expect(await verifyUnit(file, name === 'shelfd.service')).toEqual([])
  })

  test('the system unit exposes next to nothing [S-15]', async () => {
    expect(await exposureOf(join(SERVICE_FILES, 'shelfd-system.service'))).toBeLessThanOrEqual(1.5)
  })

  test.each(UNITS)('the unit %s is not restarted after a final exit [F-PR-04]', (name) => {
    const [, prevented] = /^RestartPreventExitStatus=(.*)$/m.exec(read(name)) ?? []
    const { usage, rootMissing, refused, heldBack, operator } = EXIT_CODES
    const final = [usage, rootMissing, refused, heldBack, operator].map(({ code }) => code)
    expect(prevented?.split(' ').map(Number)).toEqual(final)
  })

  test.each(UNITS)('the unit %s leaves Node its compiled code [S-15]', (name) => {
    expect(read(name)).not.toMatch(/^MemoryDenyWriteExecute=/m)
  })
})

function read(name: string): string {
  return readFileSync(join(SERVICE_FILES, name), 'utf8')
}
