/** Returns what a user types to run this program: `shelfd` or, in a checkout, what runs its sources. Do not call it in a worker thread. */
export function typedProgram(script = process.argv[1] ?? '', directory = process.env.PWD ?? ''): string {
  const [, checkout, name] = /^(.*[/\\])src[/\\](start|main)\.ts$/.exec(script) ?? []
  if (checkout === undefined) return 'shelfd'
  if (name === 'start') return 'npm start --'
  const from = `${directory}/` === checkout ? '' : checkout
  return `${from}node_modules/.bin/node ${from}src/main.ts`
}
