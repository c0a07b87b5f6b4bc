import { expect, test } from 'vitest'
import { openStoreReader } from '../../src/store/open-store.ts'
import { temporaryHome } from '../support/home.ts'

test("a mirror never contains shelfd's own directories", async () => {
  const home = temporaryHome()
  home.write('.', { 'a.md': 'A', 'state/other/b.md': 'B' })
  const first = await home.sync(['.', '--no-wait', '--yes'])
  expect(first.mirror.uploads.created).toBe(2)
  const second = await home.sync(['.'])
  expect(second.mirror.uploads.created).toBe(0)
  expect(second.mirror.files).toMatchObject({ new: 0, changed: 0 })
  using store = openStoreReader(home.stateDir)
  const directories = store?.directories.list(1).map(({ path }) => path) ?? []
  expect(directories).toContain('state/other')
  expect(directories.filter((path) => /^(state\/shelfd|data\/shelfd\/library)/.test(path))).toEqual([])
  expect(await home.shelfd(['report', '--check'])).toMatchObject({ exitCode: 0 })
})
