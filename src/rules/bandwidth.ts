import { parseSize } from '../foundation/text/units.ts'

/** The limit from a minute of the day on. 0 bytes per second means no limit. */
export interface BandwidthEntry {
  readonly fromMinute: number
  readonly bytesPerSecond: number
}

/** Ordered by time. Before the first entry of a day, the last entry holds. */
export type Bandwidth = readonly BandwidthEntry[]

const ENTRY = /^([01]?\d|2[0-3]):([0-5]\d),(\S+)$/

/** Reads `2MB`, or rclone's timetable: `08:00,512K 18:00,10MB 23:00,off`. */
export function parseBandwidth(text: string): Bandwidth | undefined {
  const always = text.trim() === 'off' ? 0 : parseSize(text)
  if (always !== undefined) return [{ fromMinute: 0, bytesPerSecond: always }]
  const entries: BandwidthEntry[] = []
  for (const word of text.trim().split(/\s+/)) {
    const [, hours, minutes, size = ''] = ENTRY.exec(word) ?? []
    const bytesPerSecond = size === 'off' ? 0 : parseSize(size)
    if (bytesPerSecond === undefined) return undefined
    entries.push({ fromMinute: Number(hours) * 60 + Number(minutes), bytesPerSecond })
  }
  const times = new Set(entries.map(({ fromMinute }) => fromMinute))
  if (times.size < entries.length) return undefined
  return entries.sort((one, other) => one.fromMinute - other.fromMinute)
}

/** Returns bytes per second at a minute of the day (0 to 1439); 0 means no limit. */
export function bandwidthAt(bandwidth: Bandwidth, minute: number): number {
  const entry = bandwidth.findLast(({ fromMinute }) => fromMinute <= minute) ?? bandwidth.at(-1)
  return entry?.bytesPerSecond ?? 0
}

export function isEverLimited(bandwidth: Bandwidth): boolean {
  return bandwidth.some(({ bytesPerSecond }) => bytesPerSecond > 0)
}
