/** One line of a scrape. */
export interface MetricSample {
  /** With `_bucket`, `_sum` or `_count` for histograms. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface MetricFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: MetricSample[]
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"/g
const COMMENT = new RegExp(`^# (?<kind>HELP|TYPE) (?<name>${NAME}) (?<text>.+)$`)
const SAMPLE = new RegExp(
  `^(?<name>${NAME})(?:\\{(?<labels>(?:${LABEL.source},?)*)\\})? (?<value>[+-]?(?:[0-9.]+(?:e[+-]?[0-9]+)?|Inf)|NaN)$`,
)
const SUFFIXES: Readonly<Record<string, readonly string[]>> = { histogram: ['_bucket', '_sum', '_count'] }

/** Reads the Prometheus text format, version 0.0.4; throws at the first line that is not of it. */
export function parseExposition(text: string): Map<string, MetricFamily> {
  if (!text.endsWith('\n')) throw new Error('The last line does not end')
  const families = new Map<string, MetricFamily>()
  const helps = new Map<string, string>()
  let family: MetricFamily | undefined
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const { kind, name = '', text: words = '' } = COMMENT.exec(line)?.groups ?? {}
    if (kind === 'HELP') helps.set(name, words)
    if (kind === 'TYPE') family = startFamily(families, { name, type: words, help: helps.get(name) ?? '', samples: [] })
    if (kind === undefined) addSample(family, parseSample(line))
  }
  return families
}

function startFamily(families: Map<string, MetricFamily>, family: MetricFamily): MetricFamily {
  if (families.has(family.name)) throw new Error(`${family.name} comes twice`)
  if (!['counter', 'gauge', 'histogram'].includes(family.type)) throw new Error(`${family.name} has no known type`)
  families.set(family.name, family)
  return family
}

function parseSample(line: string): MetricSample {
  const { name = '', labels: pairs = '', value = '' } = SAMPLE.exec(line)?.groups ?? {}
  if (name === '') throw new Error(`Not a line of the text format: ${line}`)
  const labels = Object.fromEntries([...pairs.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text]))
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) }
}

function addSample(family: MetricFamily | undefined, sample: MetricSample): void {
  const allowed = (SUFFIXES[family?.type ?? ''] ?? ['']).map((suffix) => `${family?.name}${suffix}`)
  if (!family || !allowed.includes(sample.name)) throw new Error(`${sample.name} stands below ${family?.name}`)
  const key = keyOf(sample)
  if (family.samples.some((each) => keyOf(each) === key)) throw new Error(`${key} comes twice`)
  family.samples.push(sample)
}

function keyOf({ name, labels }: MetricSample): string {
  return JSON.stringify([name, Object.entries(labels).sort()])
}
