import { Counter, Gauge, Histogram, Registry } from 'prom-client'

export class MetricSet {
  readonly registry = new Registry()

  gauge<T extends string>(name: string, help: string, ...labelNames: readonly T[]): Gauge<T> {
    return new Gauge<T>({ name, help, labelNames, registers: [this.registry] })
  }

  counter<T extends string>(name: string, help: string, ...labelNames: readonly T[]): Counter<T> {
    return new Counter<T>({ name, help, labelNames, registers: [this.registry] })
  }

  /** `buckets` are upper bounds in seconds. */
  histogram<T extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    ...labelNames: readonly T[]
  ): Histogram<T> {
    return new Histogram<T>({ name, help, labelNames, buckets: [...buckets], registers: [this.registry] })
  }
}
