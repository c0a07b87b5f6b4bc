/** A user without an entry in the password database, as in containers that are run under any number. */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { homeWithPapers } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { startShelfd } from '../support/run-shelfd.ts'

const NUMBER = '54321'
// The program under test may lie where only root may read; the last one is for access(2), which otherwise asks without capabilities.
const reading = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']
const launcher = ['setpriv', `--reuid=${NUMBER}`, `--regid=${NUMBER}`, '--clear-groups', ...reading]

function homeOfNobody() {
  needs('root', 'setpriv')
  const home = homeWithPapers({ 'a.md': 'A quokka' })
  execFileSync('chown', ['-R', `${NUMBER}:${NUMBER}`, home.path])
  const { HOME: _, ...env } = home.env
  const shelfd = (args: readonly string[], variables: Record<string, string> = env) =>
    startShelfd(args, { env: variables, cwd: home.path, launcher }).ended
  return { home, shelfd }
}

test('a user without an entry in the password database syncs without HOME where all paths are given', async () => {
  const { shelfd } = homeOfNobody()
  expect(await shelfd(['sync', 'Papers'])).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('uv_os') })
  expect((await shelfd(['search', 'quokka', '--json'])).stdout).toContain('a.md')
})

test('a start without HOME says what is missing, and exits 2', async () => {
  const { home, shelfd } = homeOfNobody()
  const { exitCode, stderr } = await shelfd(['sync', 'Papers'], { PATH: home.env.PATH ?? '' })
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/HOME is not set.*set HOME/s),
  })
})

test('doctor and service say that the user has no entry in the password database', async () => {
  const { home, shelfd } = homeOfNobody()
  const doctor = await shelfd(['doctor'], home.env)
  const why = /user 54321: this user has no entry in the password database/
  expect(doctor.stdout).not.toContain('uv_os')
  expect(doctor.stdout.replace(/\s+/g, ' ')).toMatch(why)
  const service = await shelfd(['service', 'status'], home.env)
  expect(service).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(why) })
})
