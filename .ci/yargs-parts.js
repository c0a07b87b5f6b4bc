/** Becomes dist/cli/parser/yargs-parts.js: what src/cli/parser/yargs-parts.ts looks for, in one file (see build.ts). */

export { YargsFactory } from '../node_modules/yargs/build/lib/yargs-factory.js'
export { default as Parser } from '../node_modules/yargs-parser/build/lib/index.js'
