/**
 * The factory of yargs, which its package does not export, and the parser that it uses. The bundle has .ci/yargs-parts.js
 * in its place, because loading their seventeen files takes longer than the work of yargs.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Argv } from 'yargs'

/** A parser for one command line; `usageConfiguration` is missing in the types of the package. */
export interface Yargs extends Argv<unknown> {
  usageConfiguration(configuration: { readonly 'hide-types': boolean }): this
}

interface Parts {
  readonly YargsFactory: (platform: object) => (argv: readonly string[], cwd: string) => Yargs
  readonly Parser: object
}

const entry = createRequire(import.meta.url).resolve('yargs')
const { YargsFactory }: Pick<Parts, 'YargsFactory'> = await import(
  pathToFileURL(join(dirname(entry), 'build', 'lib', 'yargs-factory.js')).href
)
const { default: Parser }: { default: Parts['Parser'] } = await import(
  pathToFileURL(createRequire(entry).resolve('yargs-parser')).href
)

export { Parser, YargsFactory }
