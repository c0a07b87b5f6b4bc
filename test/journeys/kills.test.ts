import { describe, expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'
import { runShelfd } from '../support/run-shelfd.ts'
import { manyFiles } from '../support/temporary.ts'

const CONTENTS = 110
const tree = manyFiles(160, CONTENTS)

describe('a process killed while it uploads', () => {
  test('leaves nothing that the next run cannot mend', async () => {
    await using service = await startFaultyService({ library: 'Research' })
    const home = temporaryHome(service)
    home.write('Papers', tree)
    const random = seededRandom(20_261)
    let kills = 0
    for (let round = 0; round < 7; round += 1) {
      const { child, ended } = runShelfd(['sync', 'Papers', '--to', 'Research'], { env: home.env, cwd: home.path })
      const isBeforeAnswer = random() < 0.5
      let left = 1 + Math.floor(random() * 12)
      const count = () => {
        left -= 1
        if (left === 0) child.kill('SIGKILL')
      }
      service.onUploadBegun = isBeforeAnswer ? count : () => {}
      service.onAnswered = ({ route }) => {
        if (!isBeforeAnswer && route === 'uploadFile') count()
      }
      const { exitCode } = await ended
      if (exitCode === null) kills += 1
    }
    service.onUploadBegun = () => {}
    service.onAnswered = () => {}
    expect(kills).toBe(7)

    const last = await home.sync(['Papers'])
    expect(last).toMatchObject({ exitCode: 0 })
    expect(last.mirror.uploads).toMatchObject({ failed: 0, inDoubt: 0 })
    const stored = readLibrary(service.dataDir)
    expect(stored).toHaveLength(CONTENTS)
    // Each kill can cost the uploads that were on their way, four at most; whatever the library took is not sent again.
    const taken = service.requests.filter(({ route, status }) => route === 'uploadFile' && status !== undefined)
    expect(taken.length).toBeLessThanOrEqual(CONTENTS + kills * 4)
    expect(taken.filter(({ status }) => status === 201)).toHaveLength(CONTENTS)
    expect(stored.filter(({ places }) => places.length > 1)).toEqual([])
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })

  test('takes the embedded library down and up again', async () => {
    const home = temporaryHome()
    home.write('Papers', tree)
    const random = seededRandom(7)
    for (let round = 0; round < 2; round += 1) await killLater(home, Math.floor(random() * 40))
    const last = await home.sync(['Papers'])
    expect(last).toMatchObject({ exitCode: 0 })
    const stored = readLibrary(home.dataDir)
    expect(stored).toHaveLength(CONTENTS)
    expect(stored.filter(({ places }) => places.length > 1)).toEqual([])
    expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
  })
})

/** Kills the program some time after its start: somewhere between its scan and its last answer, or after its end. */
async function killLater(home: Home, delayMs: number): Promise<void> {
  const { child, ended } = runShelfd(['sync', 'Papers'], { env: home.env, cwd: home.path })
  const timer = setTimeout(() => child.kill('SIGKILL'), 500 + delayMs * 10)
  await ended
  clearTimeout(timer)
}
