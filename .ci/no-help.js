/** What the bundle has in place of the packages with which yargs lays out its help: src/cli/parser/render-help.ts renders ours. */
export default function refuse() {
  throw new Error('yargs renders no help')
}
