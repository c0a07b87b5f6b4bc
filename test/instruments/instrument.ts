/** What all instruments share: how they read their options, what they print, and how they end. */
import { cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { messageOf } from '../../src/foundation/errors.ts'

/** A number that an option may have. */
export const anyNumber = (least: number, most: number) => z.coerce.number().min(least).max(most)
export const wholeNumber = (least: number, most: number) => anyNumber(least, most).int()
export const flag = () => z.boolean().default(false)

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

const stopping = new AbortController()
let stopsGently = false

/** Returns a signal that Ctrl-C aborts, for those that stop in order; a second Ctrl-C ends the process at once. */
export function stopSignal(): AbortSignal {
  stopsGently = true
  return stopping.signal
}

function onSignal(): void {
  if (stopsGently && !stopping.signal.aborted) stopping.abort(new Error('interrupted'))
  else process.exit(130)
}

/** Runs `npm run NAME` to its end: exits with 0 if all is well, 1 if not, 130 when it was interrupted. */
export async function runInstrument<Options>(
  name: string,
  options: z.ZodType<Options>,
  work: (options: Options) => Promise<boolean>,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  try {
    const argv = process.argv.slice(2)
    if (argv.includes('--help')) print(describeOptions(name, options))
    else process.exitCode = (await work(readOptions(options, argv))) ? 0 : 1
  } catch (error) {
    const { aborted } = stopping.signal
    process.stderr.write(`${name}: ${aborted ? 'interrupted' : messageOf(error)}\n`)
    if (process.env.DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`)
    process.exitCode = aborted ? 130 : 1
  }
  process.exit()
}

/** Reads a command line by the fields of `options`, whose names become `--like-this`; throws an Error that says what is wrong. */
export function readOptions<Options>(options: z.ZodType<Options>, argv: readonly string[]): Options {
  const described = Object.entries(propertiesOf(options))
  const config = described.map(([key, { type }]) => {
    const option = { type: type === 'boolean' ? 'boolean' : 'string', multiple: type === 'array' } as const
    return [kebab(key), option] as const
  })
  const { values } = parseArgs({ args: [...argv], options: Object.fromEntries(config) })
  const given = Object.fromEntries(described.map(([key]) => [key, values[kebab(key)]]))
  const read = options.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const key = String(issue?.path[0])
  const property = propertiesOf(options)[key]
  const wanted = issue?.code === 'custom' || !property ? issue?.message : `must be ${describeValue(property)}`
  throw new Error(`--${kebab(key)} "${given[key] ?? ''}" ${wanted}`)
}

/** A field as JSON Schema describes it. */
const property = z.object({
  type: z.string(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  items: z.object({ enum: z.array(z.string()).optional() }).optional(),
})
type Property = z.infer<typeof property>

function propertiesOf(options: z.ZodType): Readonly<Record<string, Property>> {
  return z.record(z.string(), property).parse(z.toJSONSchema(options, { io: 'input' }).properties)
}

function describeOptions(name: string, options: z.ZodType): string {
  const lines = Object.entries(propertiesOf(options)).map(([key, described]) => {
    const value = described.type === 'boolean' ? '' : ` ${described.type.replace('array', 'string').toUpperCase()}`
    const byDefault = described.type === 'boolean' || !String(described.default ?? '') ? '' : ` (${described.default})`
    return `  ${`--${kebab(key)}${value}`.padEnd(30)} ${described.description ?? describeValue(described)}${byDefault}`
  })
  return `npm run ${name} -- [options]\n\n${lines.join('\n')}`
}

function describeValue({ type, minimum, maximum, items }: Property): string {
  if (items?.enum) return `one of ${items.enum.join(', ')}`
  if (minimum === undefined) return 'a text'
  return `a ${type === 'integer' ? 'whole ' : ''}number from ${minimum} to ${maximum}`
}

function kebab(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns the machine in words. */
export function describeMachine(): string {
  const [first] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${memory}, ${process.platform}, Node ${process.versions.node}`
}

/** Returns the mean number of processes that wanted to run during the last minute; ours are among them. */
export function describeLoad(): string {
  const [minute = 0] = loadavg()
  return minute.toFixed(1)
}
