import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure } from '../support/daemon.ts'
import { expectExit, type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'

/** Runs the commands of a line as it is printed; questions are answered beforehand. */
async function runPrinted(home: Home, line: string, ...flags: string[]): Promise<void> {
  for (const command of line.split(' && ')) {
    const found = Array.from(command.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
    const [program, ...words] = found
    expect(program).toBe('shelfd')
    const isAsked = words[0] === 'mirrors' || words[1] === 'delete'
    expect(await home.shelfd([...words, ...(isAsked ? flags : [])]), command).toMatchObject({ exitCode: 0 })
  }
}

const titlesIn = async (home: Home, library: string) => {
  const { files } = await home.json(['ls', `${library}:/Papers`])
  return files.map(({ title }: { title: string }) => title)
}

test('the steps of renew lead to a library of today only, and it makes none of them itself', async () => {
  const home = homeWithPapers({ 'a.md': 'one', 'b.md': 'two', 'gone.md': 'gone' })
  await home.sync(['Papers'])
  writeFileSync(join(home.path, 'Papers', 'a.md'), 'three')
  rmSync(join(home.path, 'Papers', 'gone.md'))
  await home.sync(['Papers', '--accept-removals'])
  const renew = () => home.json(['libraries', 'renew', 'Papers', '--to', 'Papers of today'])

  const first = await renew()
  expect(first).toMatchObject({ today: { documents: 2, bytes: 8 }, earlier: { documents: 2, bytes: 7 } })
  expect(await renew()).toEqual(first)
  const { stdout } = expectExit(await home.shelfd(['libraries', 'renew', 'Papers', '--to', 'Papers of today']), 0, '')
  expect(stdout).toMatch(/^→ 1 {2}Create the new library\.$/m)
  const [create, , move] = first.steps
  await runPrinted(home, create.commands[0])
  expect((await renew()).steps[0].isDone).toBe(true)
  await runPrinted(home, move.commands[0], '--yes')

  const last = await renew()
  expect(last.steps.map(({ isDone }: { isDone: boolean }) => isDone)).toEqual([true, true, true, false, false])
  const [check, remove] = last.steps.slice(-2)
  await runPrinted(home, check.commands[0])
  await runPrinted(home, remove.commands[0], '--confirm', 'Papers')
  expect((await titlesIn(home, 'Papers of today')).toSorted()).toEqual(['a.md', 'b.md'])
  const { results } = await home.json(['search', 'one OR gone'])
  expect(results).toEqual([])
})

test('renew names the line of the configuration, and how many runs the limits ask for', async () => {
  const { home } = await homeOnService({ 'a.md': 'one', 'b.md': 'two', 'c.md': 'three' })
  const mirrors = [{ name: 'papers', path: join(home.path, 'Papers'), library: 'Research' }]
  configure(home, { mirrors })
  await home.sync(['papers'])
  configure(home, { mirrors, limits: { newPerRun: 2 } })
  const renew = () => home.json(['libraries', 'renew', 'Research', '--to', 'Notes #2'])
  const { steps } = await renew()
  expect(steps.at(-1)).toMatchObject({
    text: expect.stringMatching(/ 3 .*11 B, in 2 runs/),
    commands: [
      "shelfd config set mirrors.papers.library 'Notes #2'",
      'shelfd mirrors forget papers && shelfd sync papers',
    ],
  })
  // A mirror that was forgotten and is in neither library: nothing is to be deleted now.
  await runPrinted(home, steps[0].commands[0])
  await runPrinted(home, steps.at(-1).commands[0])
  expectExit(await home.shelfd(['mirrors', 'forget', 'papers', '--yes']), 0, '')
  const left = (await renew()).steps
  expect(left.at(-1)).toMatchObject({ text: expect.stringContaining('does not know as sent'), isDone: false })
  expect(JSON.stringify(left)).not.toContain('libraries delete')
  expectExit(await home.shelfd(['libraries', 'renew', 'Research', '--to', 'Research']), 2, /itself/)
  expectExit(await home.shelfd(['libraries', 'renew', 'Nothing']), 2, /Nothing/)
  expectExit(await temporaryHome().shelfd(['libraries', 'renew', 'Papers']), 2, /Nothing was mirrored yet/)
})
