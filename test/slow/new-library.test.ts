import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { homeWithPapers } from '../support/home.ts'

const RECIPES = join(import.meta.dirname, '../../docs/recipes.md')

test('the recipe for a library without earlier versions leads to one', async () => {
  const home = homeWithPapers({ 'a.md': 'one', 'b.md': 'two', 'gone.md': 'gone' })
  await home.sync(['Papers'])
  writeFileSync(join(home.path, 'Papers', 'a.md'), 'three')
  rmSync(join(home.path, 'Papers', 'gone.md'))
  await home.sync(['Papers', '--accept-removals'])

  const [, recipe = ''] = readFileSync(RECIPES, 'utf8').split('\n## A library without earlier versions\n')
  const [, block = ''] = recipe.split('```')
  const lines = block.trim().split('\n')
  expect(lines).toHaveLength(5)
  for (const command of lines.flatMap((line) => line.replace(/^\$ /, '').split(' && '))) {
    const [, ...words] = Array.from(command.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain ?? '')
    const answers = words[0] === 'mirrors' ? ['--yes'] : words[1] === 'delete' ? ['--confirm', 'Papers'] : []
    const given = words.map((word) => word.replace('~', home.path))
    expect(await home.shelfd([...given, ...answers]), command).toMatchObject({ exitCode: 0 })
  }

  const { files } = await home.json(['ls', 'Papers 2:/Papers'])
  expect(files.map(({ title }: { title: string }) => title).toSorted()).toEqual(['a.md', 'b.md'])
  expect((await home.json(['search', 'one OR gone'])).results).toEqual([])
})
