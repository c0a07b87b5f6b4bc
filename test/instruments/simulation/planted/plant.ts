/** Loaded before the program (`--import`): plants the bug that SHELFD_PLANTED_BUG names while its file is loaded. */
import { registerHooks } from 'node:module'
import { BUGS } from './bugs.ts'

const wanted = process.env.SHELFD_PLANTED_BUG
const bug = BUGS.find(({ name }) => name === wanted)
if (!bug) throw new Error(`There is no planted bug "${wanted}"`)
const { file, from, to } = bug
const url = new URL(`../../../../${file}`, import.meta.url).href

registerHooks({
  load: (loaded, context, nextLoad) => {
    const result = nextLoad(loaded, context)
    if (loaded !== url) return result
    const source = String(result.source)
    if (!source.includes(from)) throw new Error(`${file} has no such text any more`)
    return { ...result, source: source.replace(from, to) }
  },
})
