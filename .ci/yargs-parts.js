/** What src/cli/parser/yargs-parts.ts looks for, and what the bundle has in its place (see bundle.ts). */

export { YargsFactory } from '../node_modules/yargs/build/lib/yargs-factory.js'
export { default as Parser } from '../node_modules/yargs-parser/build/lib/index.js'
