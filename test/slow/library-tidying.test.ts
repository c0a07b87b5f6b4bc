/** The laws of `library prune` and `library remove`, against the true contents of disk and library. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Home, homeWithPapers } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { seededRandom } from '../support/random.ts'

const ACTIONS = 25
const NAMES = ['a.md', 'b.md', 'c.md', 'd.md']
const TEXTS = Array.from({ length: 7 }, (_, index) => `heron ${index}`)
const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex')

/** The hashes of all files of the mirror. */
function onDisk({ path }: Home): Set<string> {
  const papers = join(path, 'Papers')
  return new Set(readdirSync(papers).map((name) => sha256(readFileSync(join(papers, name)))))
}

test.for([1, 2, 3, 4])(
  'whatever is pruned and removed, the library has what files stand for, once, and nothing that was removed (seed %i) [P7, P13]',
  async (seed) => {
    const random = seededRandom(seed)
    const draw = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
    const home = homeWithPapers({ 'stays.md': 'heron stays', 'a.md': TEXTS[0] ?? '' })
    const removed = new Set<string>()
    const did: string[] = []
    for (let step = 0; step < ACTIONS; step += 1) {
      const [action, name] = [
        draw(['write', 'write', 'delete', 'sync', 'prune', 'remove', 'retry'] as const),
        draw(NAMES),
      ]
      const file = join(home.path, 'Papers', name)
      did.push(`${action} ${name}`)
      if (action === 'write') home.write('Papers', { [name]: draw(TEXTS) })
      else if (action === 'delete') rmSync(file, { force: true })
      else if (action === 'sync') await home.shelfd(['sync', 'Papers', '--accept-removals'])
      else if (action === 'prune') {
        const keep = String(Math.floor(random() * 2))
        await home.shelfd(['library', 'prune', '--yes', '--keep-versions', keep])
      } else if (action === 'remove') {
        const before = readHashes(home)
        await home.shelfd(['library', 'remove', file, '--yes'])
        const after = readHashes(home)
        for (const hash of before) if (!after.includes(hash)) removed.add(hash)
      } else if ((await home.shelfd(['failed', 'retry', file])).exitCode === 0) removed.clear()
    }
    expect((await home.shelfd(['sync', 'Papers', '--accept-removals'])).exitCode, did.join('; ')).toBe(0)
    const [held, present] = [readHashes(home), onDisk(home)]
    expect(new Set(held).size, did.join('; ')).toBe(held.length)
    // After a retry what was removed may be sent again.
    expect(
      held.filter((hash) => removed.has(hash)),
      did.join('; '),
    ).toEqual([])
    for (const hash of present) if (!removed.has(hash)) expect(held, did.join('; ')).toContain(hash)
    expect((await home.shelfd(['library', 'prune', '--yes'])).exitCode).toBe(0)
    expect(
      readHashes(home).filter((hash) => !present.has(hash)),
      did.join('; '),
    ).toEqual([])
    expect((await home.shelfd(['sync', 'Papers', '--checksum'])).exitCode).toBe(0)
    expect(readHashes(home), did.join('; ')).toEqual(held.filter((hash) => present.has(hash)))
  },
)

function readHashes({ dataDir }: Home): string[] {
  try {
    return readLibrary(dataDir)
      .map((resource) => resource.sha256)
      .toSorted()
  } catch {
    // Nothing was mirrored yet.
    return []
  }
}
