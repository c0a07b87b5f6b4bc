import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** A gauge of this registry alone. */
export function makeGauge<T extends string>(registry: Registry, name: string, help: string, labelNames: readonly T[]) {
  return new Gauge<T>({ name, help, labelNames, registers: [registry] })
}

/** A counter of this registry alone. */
export function makeCounter<T extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly T[],
) {
  return new Counter<T>({ name, help, labelNames, registers: [registry] })
}

/** A histogram of this registry alone; `buckets` are upper bounds in seconds. */
export function makeHistogram<T extends string>(
  registry: Registry,
  shape: { readonly name: string; readonly help: string; readonly labelNames: readonly T[] },
  buckets: readonly number[],
) {
  return new Histogram<T>({ ...shape, buckets: [...buckets], registers: [registry] })
}

/** Sets a counter to values that were counted elsewhere. */
export function setCounter<T extends string>(counter: Counter<T>, samples: readonly Sample<T>[]): void {
  counter.reset()
  for (const { labels, value } of samples) counter.inc(labels, value)
}

export interface Sample<T extends string> {
  readonly labels: Record<T, string>
  readonly value: number
}
