import type { TraceDetail } from '../../database/passages-table.ts'

/** A picture or a page, one byte (0 is black) for each pixel. */
export interface GreyImage {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array
}

type Region = NonNullable<TraceDetail['region']>

/** A pixel of a letter differs from its background at least by this much; paper and the noise of scanners by less. */
export const CONTRAST = 32
/** The gap between lines of text takes this share of a page; across the lines there is no such gap. */
const MIN_GAPS = 0.15
/** A row of pixels between two lines has fewer than this share of signs, since pages have borders and stains. */
const EMPTY = 0.005

/** The grey of most pixels. */
export function groundOf({ data }: GreyImage): number {
  const counts = new Uint32Array(256)
  for (const grey of data) counts[grey] = (counts[grey] ?? 0) + 1
  return counts.indexOf(Math.max(...counts))
}

/**
 * By how many quarters of a turn, clockwise, a page without legible text is worth turning, the likeliest first: a quarter where gaps
 * run from top to bottom, upside down where they run across. A photograph has no such gaps.
 */
export function likelyTurns(image: GreyImage): readonly number[] {
  const { width, height, data } = image
  const ground = groundOf(image)
  const [rows, columns] = [new Uint32Array(height), new Uint32Array(width)]
  for (const [index, grey] of data.entries()) {
    if (Math.abs(grey - ground) < CONTRAST) continue
    const [row, column] = [Math.floor(index / width), index % width]
    rows[row] = (rows[row] ?? 0) + 1
    columns[column] = (columns[column] ?? 0) + 1
  }
  const [across, along] = [gapsOf(rows, width), gapsOf(columns, height)]
  if (Math.max(across, along) < MIN_GAPS) return []
  return along > across ? [1, 3] : [2]
}

/** The share of lines of pixels without signs, between the first and the last that have some. */
function gapsOf(signs: Uint32Array, length: number): number {
  const isEmpty = (count: number) => count < EMPTY * length
  const from = signs.findIndex((count) => !isEmpty(count))
  const to = signs.findLastIndex((count) => !isEmpty(count))
  return from < 0 ? 0 : signs.subarray(from, to).filter(isEmpty).length / (to - from || 1)
}

/** The image turned clockwise by quarters of a turn. */
export function turn(image: GreyImage, quarters: number): GreyImage {
  if (quarters === 0) return image
  const { width, height, data } = image
  const turned = new Uint8Array(data.length)
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) turned[x * height + (height - 1 - y)] = data[y * width + x] ?? 0
  return turn({ width: height, height: width, data: turned }, quarters - 1)
}

/** The place on the page of a region of the page that was turned. */
export function turnBack(region: Region, quarters: number): Region {
  if (quarters === 0) return region
  const { left, top, width, height } = region
  const before = { left: top, top: Number((1 - left - width).toFixed(4)), width: height, height: width }
  return turnBack(before, quarters - 1)
}
