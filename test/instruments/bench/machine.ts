import { cpus, loadavg, totalmem } from 'node:os'

/** The machine in words. */
export function describeMachine(): string {
  const [first] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${memory}, ${process.platform}, Node ${process.versions.node}`
}

/** The mean number of processes that wanted to run during the last minute; ours are among them. */
export function describeLoad(): string {
  const [minute = 0] = loadavg()
  return minute.toFixed(1)
}
